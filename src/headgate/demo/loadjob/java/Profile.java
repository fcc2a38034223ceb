package headgate.loadjob;

import java.io.Serializable;
import java.util.Arrays;

/**
 * A load over time, in records per second of the whole source; t is in seconds since {@code epochMs}.
 *
 * <pre>
 *   const:RATE                       ramp:FROM,TO,SECONDS (then TO for ever)
 *   step:T0=RATE0,T1=RATE1,...       sine:BASE,AMPLITUDE,PERIOD_SECONDS (amplitude at most base)
 *   file:PATH (steps as above, one a line; lines may be added while the job runs)
 * </pre>
 */
public interface Profile extends Serializable {
  /** Records per second at t; zero before t = 0. */
  double rate(double t);

  /** Records due from t = 0 until t: the integral of the rate. */
  double integral(double t);

  static Profile parse(String text) {
    int colon = text.indexOf(':');
    String kind = colon < 0 ? text : text.substring(0, colon);
    String[] values = colon < 0 ? new String[0] : text.substring(colon + 1).split(",");
    return switch (kind) {
      case "const" -> new Constant(numbers(text, values, 1)[0]);
      case "step" -> Steps.parse(text, values);
      case "sine" -> Sine.of(text, numbers(text, values, 3));
      case "ramp" -> Ramp.of(text, numbers(text, values, 3));
      case "file" -> new StepsOfFile(text.substring(colon + 1));
      default -> throw malformed(text, "the kind is one of const, step, sine, ramp, file");
    };
  }

  private static double[] numbers(String text, String[] values, int expected) {
    if (values.length != expected) {
      throw malformed(text, expected + " number(s) expected");
    }
    return Arrays.stream(values).mapToDouble(value -> number(text, value)).toArray();
  }

  private static double number(String text, String value) {
    try {
      double number = Double.parseDouble(value.trim());
      if (number >= 0 && number < Double.POSITIVE_INFINITY) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw malformed(text, "not a number: '" + value + "'");
    }
    throw malformed(text, "must be finite and not negative: " + value);
  }

  private static IllegalArgumentException malformed(String text, String why) {
    return new IllegalArgumentException("profile '" + text + "': " + why);
  }

  /** The same rate for ever. */
  record Constant(double perSecond) implements Profile {
    @Override
    public double rate(double t) {
      return t < 0 ? 0 : perSecond;
    }

    @Override
    public double integral(double t) {
      return perSecond * Math.max(0, t);
    }
  }

  /** A rate that jumps at given times; zero before the first. */
  record Steps(double[] starts, double[] rates) implements Profile {
    static Steps parse(String text, String[] steps) {
      double[] starts = new double[steps.length];
      double[] rates = new double[steps.length];
      for (int i = 0; i < steps.length; i++) {
        String[] sides = steps[i].split("=");
        if (sides.length != 2) {
          throw malformed(text, "a step is SECONDS=RATE, not '" + steps[i] + "'");
        }
        starts[i] = number(text, sides[0]);
        rates[i] = number(text, sides[1]);
        if (i > 0 && starts[i] <= starts[i - 1]) {
          throw malformed(text, "the steps must be in order of time");
        }
      }
      return new Steps(starts, rates);
    }

    @Override
    public double rate(double t) {
      double rate = 0;
      for (int i = 0; i < starts.length && starts[i] <= t; i++) {
        rate = rates[i];
      }
      return rate;
    }

    @Override
    public double integral(double t) {
      double due = 0;
      for (int i = 0; i < starts.length && starts[i] < t; i++) {
        double end = i + 1 < starts.length ? Math.min(t, starts[i + 1]) : t;
        due += (end - starts[i]) * rates[i];
      }
      return due;
    }
  }

  /** Base plus amplitude times sin(2 pi t / period), so that it starts at the base and rises. */
  record Sine(double base, double amplitude, double period) implements Profile {
    static Sine of(String text, double[] n) {
      if (n[1] > n[0] || n[2] <= 0) {
        throw malformed(text, "the amplitude must not exceed the base, the period must be positive");
      }
      return new Sine(n[0], n[1], n[2]);
    }

    private double frequency() {
      return 2 * Math.PI / period;
    }

    @Override
    public double rate(double t) {
      return t < 0 ? 0 : base + amplitude * Math.sin(frequency() * t);
    }

    @Override
    public double integral(double t) {
      return t <= 0 ? 0 : base * t + amplitude / frequency() * (1 - Math.cos(frequency() * t));
    }
  }

  /** From one rate to another in a straight line, then on at the second. */
  record Ramp(double from, double to, double seconds) implements Profile {
    static Ramp of(String text, double[] n) {
      if (n[2] <= 0) {
        throw malformed(text, "the duration must be positive");
      }
      return new Ramp(n[0], n[1], n[2]);
    }

    @Override
    public double rate(double t) {
      return t < 0 ? 0 : from + (to - from) * Math.min(1, t / seconds);
    }

    @Override
    public double integral(double t) {
      double rising = Math.min(Math.max(0, t), seconds);
      return from * rising + (to - from) * rising * rising / (2 * seconds) + to * Math.max(0, t - seconds);
    }
  }
}
