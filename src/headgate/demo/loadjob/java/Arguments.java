package headgate.loadjob;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The program's arguments, each {@code key=value}; every one has a default.
 *
 * <pre>
 *   profile      the load, see {@link Profile}                          const:500
 *   epochMs      wall clock of the profile's t = 0                      the time of submission
 *   partitions   splits of the source, its useful maximum parallelism   12
 *   stages       the stage graph, see {@link StageSpec}                 parse:100:1:p,count:1000:1:k
 *   keys, zipf   number of keys and skew (0 = every key alike)          1000, 0
 *   stateKeys, stateBytes   values preloaded into the first keyed stage on each way, and their size   0, 0
 *   garbageBytes memory that each record takes in a keyed stage and gives back at once               0
 *   maxp         maximum parallelism                                    128
 *   ckptMs       checkpoint interval; 0 leaves it to the cluster        0
 *   chain        whether operators may be chained                       false
 *   name         the job's name                                         load
 * </pre>
 */
record Arguments(
    Profile profile,
    long epochMs,
    int partitions,
    List<StageSpec> stages,
    int keys,
    double zipf,
    long stateKeys,
    int stateBytes,
    int garbageBytes,
    int maxParallelism,
    long checkpointMs,
    boolean chain,
    String name) {

  static Arguments parse(String[] words) {
    Words given = new Words(words);
    Arguments parsed =
        new Arguments(
            given.take("profile", "const:500", Profile::parse),
            given.take("epochMs", Long.toString(System.currentTimeMillis()), Long::valueOf),
            given.take("partitions", "12", text -> (int) atLeast(1, text)),
            given.take("stages", "parse:100:1:p,count:1000:1:k", StageSpec::parseAll),
            given.take("keys", "1000", text -> (int) atLeast(1, text)),
            given.take("zipf", "0", Arguments::notNegative),
            given.take("stateKeys", "0", text -> atLeast(0, text)),
            given.take("stateBytes", "0", text -> (int) atLeast(0, text)),
            given.take("garbageBytes", "0", text -> (int) atLeast(0, text)),
            given.take("maxp", "128", text -> (int) atLeast(1, text)),
            given.take("ckptMs", "0", text -> atLeast(0, text)),
            given.take("chain", "false", Arguments::flag),
            given.take("name", "load", Function.identity()));
    given.refuseTheRest();
    return parsed;
  }

  private static long atLeast(long minimum, String text) {
    long number = Long.parseLong(text);
    if (number < minimum || number > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("must be from " + minimum + " to " + Integer.MAX_VALUE);
    }
    return number;
  }

  private static double notNegative(String text) {
    double number = Double.parseDouble(text);
    if (!(number >= 0)) {
      throw new IllegalArgumentException("must not be negative");
    }
    return number;
  }

  private static boolean flag(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("must be true or false");
    };
  }

  /** What was typed, and what of it was asked for. */
  private static final class Words {
    private final Map<String, String> left = new HashMap<>();
    private final TreeSet<String> known = new TreeSet<>();

    Words(String[] words) {
      for (String word : words) {
        int equals = word.indexOf('=');
        if (equals < 1) {
          throw new IllegalArgumentException("argument '" + word + "': expected key=value");
        }
        if (left.put(word.substring(0, equals), word.substring(equals + 1)) != null) {
          throw new IllegalArgumentException("argument '" + word + "': given twice");
        }
      }
    }

    <T> T take(String key, String absent, Function<String, T> parser) {
      known.add(key);
      String given = left.remove(key);
      String text = given == null ? absent : given;
      try {
        return parser.apply(text);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("argument " + key + "=" + text + ": not a number", e);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("argument " + key + "=" + text + ": " + e.getMessage(), e);
      }
    }

    void refuseTheRest() {
      if (!left.isEmpty()) {
        throw new IllegalArgumentException(
            "unknown argument(s) " + new TreeSet<>(left.keySet()) + "; known: " + known);
      }
    }
  }
}
