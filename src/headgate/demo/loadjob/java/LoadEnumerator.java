package headgate.loadjob;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/**
 * Deals out the splits once every reader is there. After that they live in the readers' operator state, which
 * Flink spreads over the new readers at a rescale; only splits of a lost reader come back here.
 */
final class LoadEnumerator implements SplitEnumerator<LoadSplit, List<LoadSplit>> {
  private final SplitEnumeratorContext<LoadSplit> context;
  private final List<LoadSplit> unassigned;

  LoadEnumerator(SplitEnumeratorContext<LoadSplit> context, List<LoadSplit> unassigned) {
    this.context = context;
    this.unassigned = new ArrayList<>(unassigned);
  }

  @Override
  public void addReader(int subtask) {
    int readers = context.currentParallelism();
    if (context.registeredReaders().size() < readers) {
      return;
    }
    for (LoadSplit split : unassigned) {
      context.assignSplit(split, split.partition() % readers);
    }
    unassigned.clear();
  }

  @Override
  public void addSplitsBack(List<LoadSplit> splits, int subtask) {
    unassigned.addAll(splits);
  }

  @Override
  public List<LoadSplit> snapshotState(long checkpoint) {
    return List.copyOf(unassigned);
  }

  @Override
  public void start() {}

  @Override
  public void handleSplitRequest(int subtask, String host) {}

  @Override
  public void close() {}
}
