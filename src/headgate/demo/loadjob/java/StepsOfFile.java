package headgate.loadjob;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A rate that somebody sets while the job runs: steps in a file to which lines are added.
 *
 * <p>A line that is added should lie half a second ahead, so that all readers know it in time.
 */
final class StepsOfFile implements Profile {
  private static final long READ_EVERY_NANOS = 200_000_000;

  private final String path;
  private transient Profile known;
  private transient long readAt;

  StepsOfFile(String path) {
    this.path = path;
  }

  @Override
  public double rate(double t) {
    return steps().rate(t);
  }

  @Override
  public double integral(double t) {
    return steps().integral(t);
  }

  private Profile steps() {
    if (known == null || System.nanoTime() - readAt > READ_EVERY_NANOS) {
      known = read();
      readAt = System.nanoTime();
    }
    return known;
  }

  private Profile read() {
    try {
      String[] lines = Files.readString(Path.of(path)).lines().toArray(String[]::new);
      return Steps.parse("file:" + path, lines);
    } catch (NoSuchFileException e) {
      return new Constant(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
