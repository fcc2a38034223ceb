package headgate.loadjob;

import java.io.Serializable;
import java.util.Arrays;

/** Chooses a record's key from its ordinal alone, so that a re-read record has the key it had before. */
final class KeyChooser implements Serializable {
  private static final long serialVersionUID = 1L;

  private final int keys;
  private final double exponent;
  private transient double[] shares;

  /** With exponent 0 all keys are alike; else key k has a share in proportion to 1 / (k + 1)^exponent (Zipf). */
  KeyChooser(int keys, double exponent) {
    this.keys = keys;
    this.exponent = exponent;
  }

  long choose(long ordinal) {
    double draw = (mixed(ordinal) >>> 11) * 0x1.0p-53;
    return exponent == 0 ? (long) (draw * keys) : skewed(draw);
  }

  private long skewed(double draw) {
    if (shares == null) {
      shares = cumulativeShares();
    }
    int found = Arrays.binarySearch(shares, draw);
    return Math.min(keys - 1, found >= 0 ? found + 1 : -found - 1);
  }

  private double[] cumulativeShares() {
    double[] cumulative = new double[keys];
    double sum = 0;
    for (int k = 0; k < keys; k++) {
      sum += Math.pow(k + 1, -exponent);
      cumulative[k] = sum;
    }
    for (int k = 0; k < keys; k++) {
      cumulative[k] /= sum;
    }
    return cumulative;
  }

  /** The finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
  private static long mixed(long ordinal) {
    long z = (ordinal + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
