import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export interface Certificates {
  /** The authority's. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** An authority of the test's own, and what it has signed for one name. */
export function makeCertificates(folder: string, name: string, subjectAltName: string): Certificates {
  const at = (file: string) => join(folder, `${name}.${file}`);
  const openssl = (...words: readonly string[]) => {
    const { status, stderr } = spawnSync('openssl', [...words], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`openssl ${words[0]}: ${stderr}`);
  };
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...made, '-keyout', at('ca.key'), '-out', at('ca.crt'), '-subj', `/CN=${name} authority`, '-days', '2');
  openssl('req', '-x509', ...made, '-keyout', at('key'), '-out', at('crt'), '-subj', `/CN=${name}`, '-days', '2',
    '-addext', `subjectAltName=${subjectAltName}`, '-addext', 'basicConstraints=critical,CA:FALSE',
    '-CA', at('ca.crt'), '-CAkey', at('ca.key'));
  return { ca: at('ca.crt'), cert: at('crt'), key: at('key') };
}
