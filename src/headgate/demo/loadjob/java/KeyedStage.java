package headgate.loadjob;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * A stage that counts the records of each key in state, and keeps a preloaded value of a given size beside. Each record
 * may make garbage, which costs nothing until the heap is full of state. How many records all subtasks ever counted is
 * state as well, so that what is lost or read twice shows beside the source's offsets.
 */
final class KeyedStage extends KeyedProcessFunction<Long, LoadRecord, LoadRecord> implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private static final int PIECE_BYTES = 4096;

  private final Cost cost;
  private final Selectivity selectivity;
  private final int stateBytes;
  private final int garbageBytes;
  /** The latest piece, kept in a field so that the compiler cannot leave the others out. */
  private transient byte[] thrownAway;

  private transient ListState<Long> countedBefore;
  private transient volatile long counted;
  private transient ValueState<Long> seen;
  private transient ValueState<byte[]> ballast;

  KeyedStage(StageSpec stage, Arguments arguments) {
    cost = new Cost(stage.costUs());
    selectivity = new Selectivity(stage.selectivity());
    stateBytes = arguments.stateBytes();
    garbageBytes = arguments.garbageBytes();
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    countedBefore = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("counted", Types.LONG));
    for (long part : countedBefore.get()) {
      counted += part;
    }
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    countedBefore.update(List.of(counted));
  }

  @Override
  public void open(OpenContext context) {
    getRuntimeContext().getMetricGroup().gauge("countedRecords", (Gauge<Long>) () -> counted);
    seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.LONG));
    ballast =
        getRuntimeContext()
            .getState(
                new ValueStateDescriptor<>(
                    "ballast", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
  }

  @Override
  public void processElement(LoadRecord record, Context context, Collector<LoadRecord> out) throws Exception {
    if (record.preload) {
      preload();
      return;
    }
    cost.start();
    throwAway();
    Long before = seen.value();
    counted = counted + 1;
    seen.update(before == null ? 1L : before + 1);
    cost.finish();
    for (int left = selectivity.next(); left > 0; left--) {
      out.collect(record);
    }
  }

  /** In pieces as small as those of real records, whose room is found in any heap that has some. */
  private void throwAway() {
    for (int left = garbageBytes; left > 0; left -= PIECE_BYTES) {
      thrownAway = new byte[Math.min(left, PIECE_BYTES)];
    }
  }

  /** Random bytes, so that no compression makes the state smaller than asked for. */
  private void preload() throws Exception {
    byte[] value = new byte[stateBytes];
    ThreadLocalRandom.current().nextBytes(value);
    ballast.update(value);
  }
}
