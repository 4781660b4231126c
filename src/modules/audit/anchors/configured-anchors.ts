import { isAbsolute, resolve } from 'node:path';
import type { Anchor } from '../../../platform/audit/anchor.js';
import { checkoutRoot } from '../../../platform/config/checkout-root.js';
import type { Config } from '../../../platform/config/config.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { DirectoryAnchor } from './adapters/directory.anchor.js';
import { WitnessAnchor } from './adapters/witness.anchor.js';

/** The anchors that AUDIT_ANCHORS names, else the folder beside the server's data; also without a server, for the command line. */
export function configuredAnchors(
  config: Pick<Config, 'auditAnchors' | 'auditSigningKey' | 'production' | 'outboundAllow'>,
  outbound: Pick<OutboundGuard, 'fetch'> = new OutboundGuard({ production: config.production, allow: config.outboundAllow }),
): Anchor[] {
  return [...new Set(config.auditAnchors)].map((name) => {
    const address = name.slice(name.indexOf(':') + 1);
    if (name.startsWith('witness:')) return new WitnessAnchor(name, address, outbound);
    // Whatever folder a command is run in, it means the same one as the server.
    return new DirectoryAnchor(name, isAbsolute(address) ? address : resolve(checkoutRoot(), address), config.auditSigningKey);
  });
}
