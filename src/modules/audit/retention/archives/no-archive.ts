import { ArchiveStore } from '../../../../platform/audit/archive-store.js';

/** Where AUDIT_ARCHIVE names no place: nothing was archived, and nothing can be. */
export class NoArchive extends ArchiveStore {
  write(): Promise<never> {
    return Promise.reject(nowhere());
  }

  replace(): Promise<never> {
    return Promise.reject(nowhere());
  }

  async *read(): AsyncGenerator<string> {
    await Promise.reject(nowhere());
  }

  exists(): Promise<boolean> {
    return Promise.resolve(false);
  }

  discard(): Promise<void> {
    return Promise.resolve();
  }

  check(): Promise<void> {
    return Promise.reject(nowhere());
  }
}

function nowhere(): Error {
  return new Error('AUDIT_ARCHIVE names no place for archives');
}
