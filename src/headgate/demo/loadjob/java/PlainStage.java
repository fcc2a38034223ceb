package headgate.loadjob;

import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** A stage without state. */
final class PlainStage extends ProcessFunction<LoadRecord, LoadRecord> {
  private static final long serialVersionUID = 1L;

  private final Cost cost;
  private final Selectivity selectivity;

  PlainStage(StageSpec stage) {
    cost = new Cost(stage.costUs());
    selectivity = new Selectivity(stage.selectivity());
  }

  @Override
  public void processElement(LoadRecord record, Context context, Collector<LoadRecord> out) {
    if (record.preload) {
      out.collect(record);
      return;
    }
    cost.start();
    cost.finish();
    for (int left = selectivity.next(); left > 0; left--) {
      out.collect(record);
    }
  }
}
