package headgate.loadjob;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** A streaming job whose capacity and load are known exactly, see {@link Arguments}. */
public final class LoadJob {
  private final StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
  private final Map<String, DataStream<LoadRecord>> streams = new HashMap<>();
  private final Set<String> read = new HashSet<>();
  private final Arguments arguments;

  private LoadJob(Arguments arguments) {
    this.arguments = arguments;
  }

  public static void main(String[] words) throws Exception {
    Arguments arguments = Arguments.parse(words);
    LoadJob job = new LoadJob(arguments);
    job.configure();
    job.addSource();
    arguments.stages().forEach(job::addStage);
    job.addSink();
    job.environment.execute(arguments.name());
  }

  private void configure() {
    environment.setMaxParallelism(arguments.maxParallelism());
    if (arguments.checkpointMs() > 0) {
      environment.enableCheckpointing(arguments.checkpointMs());
    }
    if (!arguments.chain()) {
      environment.disableOperatorChaining();
    }
  }

  private void addSource() {
    String name = StageSpec.SOURCE;
    streams.put(
        name,
        environment
            .fromSource(
                new LoadSource(arguments),
                WatermarkStrategy.noWatermarks(),
                name,
                TypeInformation.of(LoadRecord.class))
            .uid(name));
  }

  private void addStage(StageSpec stage) {
    DataStream<LoadRecord> input = union(stage.inputs());
    SingleOutputStreamOperator<LoadRecord> output =
        stage.keyed()
            ? input
                .keyBy(record -> record.key, Types.LONG)
                .process(new KeyedStage(stage, arguments))
            : input.rebalance().process(new PlainStage(stage));
    streams.put(stage.name(), output.name(stage.name()).uid(stage.name()));
  }

  private void addSink() {
    Set<String> unread = new HashSet<>(streams.keySet());
    unread.removeAll(read);
    String name = StageSpec.SINK;
    // Sorted, because the order of the inputs is a part of the graph and must not differ between two runs.
    // Rebalanced, because a forwarding edge would tie the sink's parallelism to that of what it reads.
    union(unread.stream().sorted().toList()).rebalance().sinkTo(new DiscardingSink<>()).name(name).uid(name);
  }

  private DataStream<LoadRecord> union(Iterable<String> names) {
    DataStream<LoadRecord> union = null;
    for (String name : names) {
      DataStream<LoadRecord> stream = streams.get(name);
      union = union == null ? stream : union.union(stream);
      read.add(name);
    }
    return union;
  }
}
