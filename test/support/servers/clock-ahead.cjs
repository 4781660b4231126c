// Loaded before a server: its clock runs ahead by so many seconds, as one does that nobody keeps in time.
const Real = Date;
const ahead = Number(process.env.TEST_CLOCK_AHEAD_SECONDS) * 1_000;

globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + ahead);
    else super(...given);
  }

  static now() {
    return Real.now() + ahead;
  }
};
