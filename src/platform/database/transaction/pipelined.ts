/**
 * Waits for statements that were sent one behind the other, without waiting for the answer of each: a connection answers them in
 * their order, and each sees what those before it did.
 *
 * @returns their answers, when all of them have come: no statement is under way any more, also where one has failed
 * @throws the error of the first, in their order, that failed; those behind it failed because of it
 */
export async function pipelined<const Answers extends readonly unknown[]>(
  sent: { readonly [Index in keyof Answers]: Answers[Index] | Promise<Answers[Index]> },
): Promise<Answers> {
  const settled = await Promise.allSettled(sent);
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as Answers;
}
