/** What becomes of a task. It ends with the execution that does it, or before one has begun. */
export const TASK_STATUSES = ['assigned', 'running', 'done', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** `take`: an execution begins, or waits for a person. `cancel`: the task ends before that. */
export type TaskCommand = 'take' | 'complete' | 'fail' | 'cancel';

/** The whole machine: what is not here is refused. A running task ends with its execution, which has a cancel of its own. */
export const TASK_TRANSITIONS: Readonly<Record<TaskStatus, Partial<Readonly<Record<TaskCommand, TaskStatus>>>>> = {
  assigned: { take: 'running', cancel: 'cancelled' },
  running: { complete: 'done', fail: 'failed' },
  done: {},
  failed: {},
  cancelled: {},
};

/** How deep tasks go: so many agents stand in a chain at most. */
export const CHAIN_MAX = 5;

/** A task as it is stored: the rest of its state is its execution's. */
export interface StoredTask {
  readonly status: 'assigned' | 'taken' | 'cancelled';
  /** Status of the execution that took it. */
  readonly executionStatus: string | null;
  /** Whether a task that it is part of has ended, and so this one, if nobody has taken it. */
  readonly isWithinEnded: boolean;
}

export function taskStatusOf({ status, executionStatus, isWithinEnded }: StoredTask): TaskStatus {
  if (status === 'cancelled') return 'cancelled';
  if (status === 'assigned') return isWithinEnded ? 'cancelled' : 'assigned';
  switch (executionStatus) {
    case 'executed':
      return 'done';
    case 'pending_hitl':
    case 'running':
      return 'running';
    default:
      return 'failed';
  }
}

/** Whether nothing more becomes of it. */
export function isFinalTask(status: TaskStatus): boolean {
  return Object.keys(TASK_TRANSITIONS[status]).length === 0;
}
