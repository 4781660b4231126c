import { Problem } from '../reply/problem.js';

const MESSAGE = '`from` is later than `to`: no moment lies between.';

/** @throws Problem VALIDATION_FAILED for a period that ends before it begins: an empty answer would look as if nothing had happened */
export function assertPeriod({ from, to }: { readonly from?: Date; readonly to?: Date }): void {
  if (!from || !to || from <= to) return;
  throw new Problem('VALIDATION_FAILED', MESSAGE, { errors: ['?from', '?to'].map((pointer) => ({ pointer, message: MESSAGE })) });
}
