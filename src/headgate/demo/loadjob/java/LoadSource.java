package headgate.loadjob;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * An unbounded source that behaves like a partitioned log (FLIP-27): each partition fills at its share of the
 * profile whether or not it is read, and its offset is checkpointed, so that a backlog survives a rescale.
 */
final class LoadSource implements Source<LoadRecord, LoadSplit, List<LoadSplit>> {
  private static final long serialVersionUID = 1L;

  private final Profile profile;
  private final long epochMs;
  private final int partitions;
  private final long preload;
  private final KeyChooser keys;

  LoadSource(Arguments arguments) {
    profile = arguments.profile();
    epochMs = arguments.epochMs();
    partitions = arguments.partitions();
    preload = arguments.stateBytes() == 0 ? 0 : arguments.stateKeys();
    keys = new KeyChooser(arguments.keys(), arguments.zipf());
  }

  int partitions() {
    return partitions;
  }

  KeyChooser keys() {
    return keys;
  }

  /** Records that one partition holds by now. */
  double duePerPartition() {
    return profile.integral((System.currentTimeMillis() - epochMs) / 1000.0) / partitions;
  }

  /** Records that one partition emits before the load, so that all partitions together preload every key. */
  long preloadOf(int partition) {
    return (preload + partitions - 1 - partition) / partitions;
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public SplitEnumerator<LoadSplit, List<LoadSplit>> createEnumerator(SplitEnumeratorContext<LoadSplit> context) {
    List<LoadSplit> all = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      all.add(new LoadSplit(partition, 0, 0));
    }
    return new LoadEnumerator(context, all);
  }

  @Override
  public SplitEnumerator<LoadSplit, List<LoadSplit>> restoreEnumerator(
      SplitEnumeratorContext<LoadSplit> context, List<LoadSplit> unassigned) {
    return new LoadEnumerator(context, unassigned);
  }

  @Override
  public SourceReader<LoadRecord, LoadSplit> createReader(SourceReaderContext context) {
    return new LoadReader(context, this);
  }

  @Override
  public SimpleVersionedSerializer<LoadSplit> getSplitSerializer() {
    return new LoadSplitSerializer.Single();
  }

  @Override
  public SimpleVersionedSerializer<List<LoadSplit>> getEnumeratorCheckpointSerializer() {
    return new LoadSplitSerializer();
  }
}
