/** What a check found: all is well; worth knowing; wrong, with what to do. */
export interface Finding {
  readonly check: string;
  readonly state: 'well' | 'note' | 'wrong';
  readonly detail: string;
  readonly todo?: string;
}

export const well = (check: string, detail: string): Finding => ({ check, state: 'well', detail });
export const note = (check: string, detail: string, todo?: string): Finding =>
  ({ check, state: 'note', detail, ...(todo ? { todo } : {}) });
export const wrong = (check: string, detail: string, todo: string): Finding => ({ check, state: 'wrong', detail, todo });
