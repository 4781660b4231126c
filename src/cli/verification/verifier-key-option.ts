import { InvalidArgumentError, Option } from 'commander';
import { readVerifierKey } from '../../domain/audit/notes/note.js';

const FORM = 'A verifier key is <name>+<8 hex digits>+<base64>, as GET /audit/keys has it.';

/**
 * `--verifier-key`, once for each key: one that took all words behind it would take a folder, too. What is no key ends the command before
 * anything is read: by such a one nothing is signed, and a sound log would pass for one that was tampered with.
 */
export function verifierKeyOption(believed: string): Option {
  return new Option('--verifier-key <key>', `only believe ${believed} signed by this key (GET /audit/keys); may be repeated`)
    .argParser((text: string, before: readonly string[] | undefined) => {
      if (!readVerifierKey(text)) throw new InvalidArgumentError(FORM);
      return [...(before ?? []), text];
    });
}
