package headgate.loadjob;

import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** A stage that counts the records of each key in state, and keeps a preloaded value of a given size beside. */
final class KeyedStage extends KeyedProcessFunction<Long, LoadRecord, LoadRecord> {
  private static final long serialVersionUID = 1L;

  private final Cost cost;
  private final Selectivity selectivity;
  private final int stateBytes;
  private transient ValueState<Long> seen;
  private transient ValueState<byte[]> ballast;

  KeyedStage(StageSpec stage, int stateBytes) {
    cost = new Cost(stage.costUs());
    selectivity = new Selectivity(stage.selectivity());
    this.stateBytes = stateBytes;
  }

  @Override
  public void open(OpenContext context) {
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
    Long before = seen.value();
    seen.update(before == null ? 1L : before + 1);
    cost.finish();
    for (int left = selectivity.next(); left > 0; left--) {
      out.collect(record);
    }
  }

  /** Random bytes, so that no compression makes the state smaller than asked for. */
  private void preload() throws Exception {
    byte[] value = new byte[stateBytes];
    ThreadLocalRandom.current().nextBytes(value);
    ballast.update(value);
  }
}
