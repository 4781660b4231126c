/**
 * Waits for statements that were sent one behind the other, without waiting for the answer of each: a connection answers them in
 * their order, and each sees what those before it did.
 *
 * @returns their answers, when all of them have come: nothing of this is under way any more, also where one has failed
 * @throws what the first of them, in their order, threw; those behind it failed with it
 */
export async function pipelined<const Answers extends readonly unknown[]>(
  sent: { readonly [Index in keyof Answers]: Answers[Index] | Promise<Answers[Index]> },
): Promise<Answers> {
  const settled = await Promise.allSettled(sent);
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as Answers;
}
