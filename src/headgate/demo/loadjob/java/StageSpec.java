package headgate.loadjob;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One stage of the graph, {@code NAME:COST_US:SELECTIVITY:MODE[<-INPUT[+INPUT...]]}.
 *
 * <p>MODE is {@code k} (keyed, with state) or {@code p} (plain, rebalanced). An input is {@code source} or a
 * stage written before; several are united. Without inputs a stage reads the stage before it, the first the
 * source. Several stages may read the same one (each gets all of its records); what nobody reads goes to the
 * sink. A fan-out with a join: {@code a:100:1:p<-source,b:200:0.5:k<-source,join:300:1:k<-a+b}.
 */
record StageSpec(String name, double costUs, double selectivity, boolean keyed, List<String> inputs) {
  static final String SOURCE = "source";
  static final String SINK = "sink";

  static List<StageSpec> parseAll(String text) {
    List<StageSpec> stages = new ArrayList<>();
    Set<String> names = new HashSet<>(Set.of(SOURCE));
    String previous = SOURCE;
    for (String part : text.split(",")) {
      StageSpec stage = parse(part, previous);
      stage.check(names);
      stages.add(stage);
      previous = stage.name;
    }
    return List.copyOf(stages);
  }

  private static StageSpec parse(String text, String previous) {
    String[] sides = text.split("<-", 2);
    String[] fields = sides[0].split(":");
    if (fields.length != 4) {
      throw new IllegalArgumentException("stage '" + text + "': expected NAME:COST_US:SELECTIVITY:MODE");
    }
    List<String> inputs = sides.length == 1 ? List.of(previous) : List.of(sides[1].split("\\+"));
    return new StageSpec(
        fields[0], number(text, fields[1]), number(text, fields[2]), isKeyed(text, fields[3]), inputs);
  }

  private static double number(String text, String value) {
    try {
      double number = Double.parseDouble(value);
      if (number >= 0 && number < Double.POSITIVE_INFINITY) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("stage '" + text + "': not a number: '" + value + "'", e);
    }
    throw new IllegalArgumentException("stage '" + text + "': must be finite and not negative: " + value);
  }

  private static boolean isKeyed(String text, String mode) {
    return switch (mode) {
      case "k" -> true;
      case "p" -> false;
      default -> throw new IllegalArgumentException("stage '" + text + "': the mode is k or p, not " + mode);
    };
  }

  private void check(Set<String> earlier) {
    if (name.isEmpty() || name.equals(SINK)) {
      throw new IllegalArgumentException("stage '" + name + "': this name cannot be used");
    }
    for (String input : inputs) {
      if (!earlier.contains(input)) {
        throw new IllegalArgumentException("stage '" + name + "': no earlier stage '" + input + "' to read");
      }
    }
    if (new HashSet<>(inputs).size() < inputs.size()) {
      throw new IllegalArgumentException("stage '" + name + "': reads the same stage twice");
    }
    if (!earlier.add(name)) {
      throw new IllegalArgumentException("stage '" + name + "': the name is taken");
    }
  }
}
