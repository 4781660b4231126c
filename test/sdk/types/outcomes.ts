import { type Countersign, type HitlStatus, isCountersignError, type Outcome } from '@countersign/sdk';

// Compiled and never run (npm run typecheck, and npm run sdk against the packed types): what is wrong must not compile.

declare const sdk: Countersign;
declare const outcome: Outcome;

/** Each case has its own members. */
export function told(): string {
  switch (outcome.status) {
    case 'executed':
      return outcome.auditId;
    case 'failed':
      return outcome.error.message;
    case 'blocked':
      return outcome.reason;
    case 'pending_approval':
      return outcome.hitlRequestId;
  }
}

/** A case is missing, so something is left where nothing may be. */
export function toldInPart(): string {
  if (outcome.status === 'executed') return outcome.auditId;
  if (outcome.status === 'failed') return outcome.error.message;
  if (outcome.status === 'pending_approval') return outcome.hitlRequestId;
  // @ts-expect-error -- what is blocked is left
  const nothing: never = outcome;
  return nothing;
}

export function wrong(): unknown[] {
  return [
    // @ts-expect-error -- which case it is was not looked at
    outcome.reason,
    // @ts-expect-error -- the API's word, which the SDK does not use
    outcome.status === 'pending_hitl',
    // @ts-expect-error -- no case
    outcome.status === 'rejected',
    outcome.status === 'pending_approval' && outcome.expiresAt,
  ];
}

/** The interface's five. */
export const statuses: Record<HitlStatus, true> = { pending: true, escalated: true, approved: true, rejected: true, timed_out: true };
// @ts-expect-error -- the sixth is documented, and not among them
export const sixth: HitlStatus = 'cancelled';

export async function errors(error: unknown): Promise<string | undefined> {
  if (isCountersignError(error, 'HITL_REJECTED', 'CAPABILITY_NOT_GRANTED')) return error.hitlId;
  // @ts-expect-error -- no code of the service or of the client
  if (isCountersignError(error, 'HITL_REFUSED')) return undefined;
  // @ts-expect-error -- unknown until it is looked at
  return error.code;
}

export async function governed(): Promise<string> {
  const send = sdk.governed(async (mail: { to: string }, { executionId }) => `${mail.to} ${executionId}`, 'email.send');
  // @ts-expect-error -- another input than the function takes
  await send({ too: 'anna' });
  // @ts-expect-error -- what comes back is the function's
  const length: number = await send({ to: 'anna' });
  return `${length} ${await send({ to: 'anna' }, { idempotencyKey: 'one' })}`;
}
