/** Ways to name this machine, a private network or what hands out a cloud's secrets. */
const HOSTS = [
  '127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0x0.0x0.0x1', '0x7f.1', '0177.0.0.1',
    '0177.1', '017700000001',
  '00000177.0.0.1', '127.0.0.0x1', '127.0.0.1.', '0', '0.0.0.0', '0x0', '00', '0.0.0.0.', '①②⑦.⓪.⓪.①', '１２７.0.0.1', '127。0。0。1',
    '127．0．0．1',
  '%31%32%37.0.0.1', '127%2e0%2e0%2e1', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]', '[::ffff:0:7f00:1]', '[::127.0.0.1]', '[::7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:0001::1]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]',
    '[ff02::1]', '[ff0e::1]',
  '[2001::1]', '[2001:db8::1]', '[100::1]', '10.0.0.1', '10.1', '012.0.0.1', '0xa.0.0.1', '167772161', '172.16.0.1',
    '172.31.255.255', '0xac.16.0.1',
  '192.168.0.1', '192.168.1', '0xc0a80001', '3232235521', '030052000001', '169.254.169.254', '169.254.170.2', '0xa9fea9fe',
    '2852039166',
  '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '100.100.100.200', '100.64.0.1',
    '192.0.0.192', '192.0.2.1',
  '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', '0xffffffff',
    '168.63.129.16',
  'localhost', 'LOCALHOST', 'localhost.', 'LocalHost.', 'a.localhost', 'localhost.localdomain', 'ｌｏｃａｌｈｏｓｔ', 'loc%61lhost',
    'local\u00adhost', 'printer.local',
  'metadata.google.internal', 'metadata.google.internal.', 'db.internal', 'x.corp', 'router.lan', 'nas.home.arpa',
  // Names that a resolver sends to a private address; each resolves to the canary here.
  'localtest.test', '127.0.0.1.nip.test', 'rebind.test', 'xn--lclhst-test.test', 'sub.rebind.test.', 'REBIND.test', 'a_b.test',
    '7f000001.rbndr.test',
];
/** Addresses of each of them. */
const SHAPES = [
  (host: string, at: number) => `https://${host}:${at}/`,
  (host: string, at: number) => `HTTPS://${host}:${at}/path?x=1`,
];
/** Addresses that are none, or of other schemes, or hold credentials. */
const BROKEN = [
  'http://example.com@127.0.0.1/', 'https://user:pw@127.0.0.1/', 'https://127.0.0.1@rebind.test/', 'https://rebind.test:x/',
    'https://', 'https:///', '//127.0.0.1/', '127.0.0.1',
  'ftp://127.0.0.1/', 'file:///etc/passwd', 'gopher://127.0.0.1:70/_x', 'dict://127.0.0.1/', 'data:text/plain,x',
    'javascript:alert(1)', 'ws://127.0.0.1/', 'unix:/var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/', 'jar:https://127.0.0.1!/', 'https://[::1', 'https://[fe80::1%25eth0]/',
    'https://a b/', 'https://127.0.0.1:99999/', 'https://%00/', 'https://256.1.1.1/',
  'https:\\\\127.0.0.1\\', 'https://127.0.0.1\\@rebind.test/', 'http://rebind.test/', 'http://93.184.216.34/', '', ' ',
    'https://1.2.3.4.5/', '\thttps://127.0.0.1/\n',
];

/** Some 200 addresses that may not be called in production. @param port where something would answer */
export const unsafeAddresses = (port: number): string[] =>
  [...HOSTS.flatMap((host) => SHAPES.map((shape) => shape(host, port))), ...BROKEN];
