import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * One spelling per address: IPv4 in dots, IPv6 as RFC 5952 has it, IPv4-mapped IPv6 as the IPv4 that it is; no zone.
 * Undefined for what is not an address.
 */
export function canonicalAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const zone = text.indexOf('%');
  // The URL standard's serializer compresses as RFC 5952 asks; it only knows no dots, which the mapped form gets here.
  const plain = new URL(`http://[${zone < 0 ? text : text.slice(0, zone)}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain);
  if (mapped === null) return plain;
  const high = Number.parseInt(mapped[1]!, 16);
  const low = Number.parseInt(mapped[2]!, 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

export type IsTrusted = (address: string) => boolean;

/**
 * Compiles the configured proxies (addresses, or networks in CIDR form). A malformed entry throws: a typing error in
 * this list would otherwise silently trust nobody, or the wrong one.
 */
export function trustedProxies(entries: readonly string[]): IsTrusted {
  if (entries.length === 0) return () => false;
  const list = new BlockList();
  for (const entry of entries) {
    const [network = '', bits] = entry.split('/');
    const address = canonicalAddress(network);
    if (address === undefined || (bits !== undefined && !/^\d{1,3}$/.test(bits))) throw notAProxy(entry);
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) {
      list.addAddress(address, family);
      continue;
    }
    const mappedBits = family === 'ipv4' && network.includes(':') ? Number(bits) - 96 : Number(bits);
    if (mappedBits < 0 || mappedBits > (family === 'ipv4' ? 32 : 128)) throw notAProxy(entry);
    list.addSubnet(address, mappedBits, family);
  }
  return (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function notAProxy(entry: string): Error {
  return new Error(`"${entry}" is neither an IP address nor a network such as 10.0.0.0/8`);
}

/**
 * Whose call it is. X-Forwarded-For is read from its right end, hop by hop, and only as long as the hop that wrote an
 * entry is a proxy of ours: what stands further left anybody could have written.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  isTrusted: IsTrusted,
): string | undefined {
  let client = canonicalAddress(peer);
  if (client === undefined || forwardedFor === undefined || !isTrusted(client)) return client;
  const hops = forwardedFor.split(',');
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = canonicalAddress(withoutPort(hops[i]!.trim()));
    if (hop === undefined) return client;
    client = hop;
    if (!isTrusted(hop)) return client;
  }
  return client;
}

/** Some proxies write `192.0.2.1:5678` or `[2001:db8::1]:5678`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
