package headgate.loadjob;

import java.io.Serializable;

/** Turns a ratio of records out per record in into a whole number for each record, exact in the mean. */
final class Selectivity implements Serializable {
  private static final long serialVersionUID = 1L;

  private final double ratio;
  private transient double carried;

  Selectivity(double ratio) {
    this.ratio = ratio;
  }

  int next() {
    carried += ratio;
    int whole = (int) carried;
    carried -= whole;
    return whole;
  }
}
