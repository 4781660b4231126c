/**
 * Why: a plan that was cached while a table was young and small would go on reading all of it, so functions look rows up by their
 * keys and in no other way. Before PostgreSQL 18 a planner switch adds 10^10 to the cost of a plan that has no other way left, and
 * that cost alone sets compilation in: half a second for a statement of one millisecond. Hence `jit = off` beside every switch.
 */
export const BY_KEY_ONLY = `set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;
