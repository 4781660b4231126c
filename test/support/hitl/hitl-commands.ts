import type { Ask, Model, ModelTerms, Principal } from './hitl-model.js';
import { isOpen } from './hitl-model.js';
import type { DecisionResult } from './hitl-model-decisions.js';

/** One step of a walk, as data: which request it means is a number that is taken among those there are. */
export type Command =
  | ({ readonly kind: 'ask' } & Ask)
  | { readonly kind: 'decide'; readonly pick: Pick; readonly attempt: DecisionResult }
  /** The same call once more under its key, or another body under it. */
  | { readonly kind: 'repeat'; readonly pick: number; readonly otherBody: boolean }
  /** The window ends, and a click comes at the same moment. */
  | { readonly kind: 'click late'; readonly pick: Pick; readonly attempt: DecisionResult }
  /** The window ends, and a sweep comes by. */
  | { readonly kind: 'sweep'; readonly pick: Pick }
  /** A short window that nobody moves: it ends by itself. */
  | { readonly kind: 'run out'; readonly agent: number; readonly terms: ModelTerms }
  /** Reminders come due: the next one, or all that are left. */
  | { readonly kind: 'remind'; readonly pick: Pick; readonly due: 'next' | 'all' }
  /** Several at once, perhaps one of them twice. */
  | { readonly kind: 'batch'; readonly who: Principal; readonly decision: 'approve' | 'reject'; readonly items: readonly BatchItem[] }
  | Rule;

/** What holds for everybody, or for an agent. */
export type Rule =
  | { readonly kind: 'grant'; readonly agent: number; readonly capability: string; readonly terms: ModelTerms }
  | { readonly kind: 'revoke'; readonly agent: number; readonly capability: string }
  | { readonly kind: 'stop' | 'resume' | 'deactivate' | 'activate'; readonly agent: number }
  /** The organization's separation of duties. */
  | { readonly kind: 'strict' }
  | { readonly kind: 'standard' };

export interface BatchItem {
  readonly pick: Pick;
  readonly digest: DecisionResult['digest'];
}

export interface Pick {
  readonly nth: number;
  /** Among those that are open, or among all. */
  readonly open: boolean;
}

/** What a step met: labels for the coverage, and where the server differs from the model. */
export interface Met {
  readonly labels: readonly string[];
  readonly difference?: string | undefined;
}

/** Whether there is anything for the command to work on. */
export function canWalk(model: Model, command: Command): boolean {
  switch (command.kind) {
    case 'decide':
      return chosen(model, command.pick) !== undefined;
    case 'batch':
      return command.items.every(({ pick }) => chosen(model, pick) !== undefined);
    case 'remind': {
      const nth = chosen(model, { ...command.pick, open: true });
      if (nth === undefined || model.agents[model.requests[nth]!.agent]!.stopped) return false;
      return model.requests[nth]!.remindersLeft.length > 0;
    }
    case 'sweep':
    case 'click late': {
      // While a stop holds, the window stands still: there is no end of it to be late for.
      const nth = chosen(model, { ...command.pick, open: true });
      return nth !== undefined && !model.agents[model.requests[nth]!.agent]!.stopped;
    }
    case 'run out': {
      const { active, stopped } = model.agents[command.agent]!;
      return active && !stopped && model.requests.filter((one) => one.agent === command.agent && isOpen(one)).length < model.maxPending;
    }
    case 'revoke':
      return model.agents[command.agent]!.grants.get(command.capability)!.held;
    case 'stop':
      return !model.agents[command.agent]!.stopped;
    case 'resume':
      return model.agents[command.agent]!.stopped;
    case 'deactivate':
      return model.agents[command.agent]!.active;
    case 'activate':
      return !model.agents[command.agent]!.active;
    case 'strict':
      return !model.strict;
    case 'standard':
      return model.strict;
    default:
      return true;
  }
}

/** Which request is meant, if there is any. */
export function chosen({ requests }: Model, { nth, open }: Pick): number | undefined {
  const among = requests.flatMap((request, i) => (!open || isOpen(request) ? [i] : []));
  return among[nth % among.length];
}
