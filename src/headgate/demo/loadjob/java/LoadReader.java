package headgate.loadjob;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.Gauge;

/** Emits what is due in its partitions, in turn, and tells through gauges how far behind it is. */
final class LoadReader implements SourceReader<LoadRecord, LoadSplit> {
  private static final long CLOCK_STEP_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_WAIT_MS = 2;

  private final SourceReaderContext context;
  private final LoadSource source;
  private final List<Cursor> cursors = new CopyOnWriteArrayList<>();
  private CompletableFuture<Void> available = CompletableFuture.completedFuture(null);
  private int turn;
  private long clockReadNs = System.nanoTime() - CLOCK_STEP_NS;
  private long due;

  LoadReader(SourceReaderContext context, LoadSource source) {
    this.context = context;
    this.source = source;
  }

  @Override
  public void start() {
    context.metricGroup().setPendingRecordsGauge(this::pending);
    context.metricGroup().gauge("emittedRecords", (Gauge<Long>) this::emitted);
    context.metricGroup().gauge("assignedSplits", (Gauge<Integer>) cursors::size);
  }

  @Override
  public InputStatus pollNext(ReaderOutput<LoadRecord> output) {
    readClock();
    for (int tried = 0; tried < cursors.size(); tried++) {
      turn = (turn + 1) % cursors.size();
      LoadRecord next = cursors.get(turn).next(due, source);
      if (next != null) {
        output.collect(next);
        return InputStatus.MORE_AVAILABLE;
      }
    }
    available =
        CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(IDLE_WAIT_MS, TimeUnit.MILLISECONDS));
    return InputStatus.NOTHING_AVAILABLE;
  }

  /** The profile's integral costs more than a record, so it is taken once a millisecond. */
  private void readClock() {
    long now = System.nanoTime();
    if (now - clockReadNs >= CLOCK_STEP_NS) {
      clockReadNs = now;
      due = (long) source.duePerPartition();
    }
  }

  private long pending() {
    long dueNow = (long) source.duePerPartition();
    return cursors.stream().mapToLong(cursor -> Math.max(0, dueNow - cursor.offset)).sum();
  }

  private long emitted() {
    return cursors.stream().mapToLong(cursor -> cursor.offset).sum();
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    return available;
  }

  @Override
  public List<LoadSplit> snapshotState(long checkpoint) {
    return cursors.stream().map(Cursor::split).toList();
  }

  @Override
  public void addSplits(List<LoadSplit> splits) {
    splits.forEach(split -> cursors.add(new Cursor(split)));
  }

  @Override
  public void notifyNoMoreSplits() {}

  @Override
  public void close() {}

  /** Where one partition is read; written by the task's thread, read by the metrics'. */
  private static final class Cursor {
    private final int partition;
    private volatile long offset;
    private long preloaded;

    Cursor(LoadSplit split) {
      partition = split.partition();
      offset = split.offset();
      preloaded = split.preloaded();
    }

    LoadRecord next(long due, LoadSource source) {
      if (preloaded < source.preloadOf(partition)) {
        return LoadRecord.preload(preloaded++ * source.partitions() + partition);
      }
      if (offset >= due) {
        return null;
      }
      long ordinal = offset * source.partitions() + partition;
      offset = offset + 1;
      return LoadRecord.load(source.keys().choose(ordinal));
    }

    LoadSplit split() {
      return new LoadSplit(partition, offset, preloaded);
    }
  }
}
