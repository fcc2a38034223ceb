package headgate.loadjob;

import org.apache.flink.api.connector.source.SourceSplit;

/** One partition of the source and how far it has been read; this is what a checkpoint keeps. */
public record LoadSplit(int partition, long offset, long preloaded) implements SourceSplit {
  @Override
  public String splitId() {
    return "partition-" + partition;
  }
}
