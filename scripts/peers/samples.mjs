// Whether the samples for containers are what Kubernetes and Compose take, and fit the server: what it reads, answers and writes to. Their
// parsers and types are in test/peers. Neither a cluster nor a container is started.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { root } from '../prepare.mjs';

const require = createRequire(join(root, 'test/peers/package.json'));
/** Where @kubernetes-types has what an apiVersion holds. */
const MODULES = { v1: 'core/v1', 'apps/v1': 'apps/v1', 'policy/v1': 'policy/v1', 'networking.k8s.io/v1': 'networking/v1' };
/** Calls get so long at a stop, and a connector's so long at most (docs/operations.md, Going down). */
const [DRAIN_SECONDS, LONGEST_CALL_SECONDS] = [8, 120];
const ANCHORS = '/app/.countersign/anchors';
/** Of `node` in the image. */
const NODE_USER = 1000;
const { INTERNAL_API_KEY, ...MADE } = JSON.parse(
  execFileSync(process.execPath, [join(root, 'bin/countersign.mjs'), 'secrets', '--json'], { encoding: 'utf8' }));
const SECRETS = { ...MADE, DATABASE_URL: 'postgres://u:p@db.example/d?sslmode=verify-full' };

const text = (path) => readFileSync(join(root, path), 'utf8');
const documents = (path) => require('yaml').parseAllDocuments(text(path), { merge: true, strict: true }).map((document) => {
  if (document.errors.length + document.warnings.length > 0) throw new Error(`${path}: ${document.errors.concat(document.warnings)[0]}`);
  return document.toJS();
});

/** Writes the manifests as literals of the API's types: the compiler refuses a member that there is not, and a value of another type. */
export function writeTyped(path) {
  const typed = documents('deploy/kubernetes/countersign.yaml').map((document, at) => {
    const { apiVersion, kind } = document;
    const type = `import('kubernetes-types/${MODULES[apiVersion]}').${kind}`;
    return `export const manifest${at}: ${type} = ${JSON.stringify(document, undefined, 2)};\n`;
  });
  writeFileSync(path, typed.join(''));
}

/** @returns what does not fit, a sentence each */
export async function misfits() {
  const { environmentSchema } = await import(join(root, 'dist/src/platform/config/config.schema.js'));
  const { loadConfig } = await import(join(root, 'dist/src/platform/config/config.js'));
  const known = new Set(Object.keys(environmentSchema.shape));
  const paths = new Set(Object.keys(JSON.parse(text('openapi.json')).paths));
  const wrong = [];
  const wanted = (holds, sentence) => {
    if (!holds) wrong.push(sentence);
  };
  const configured = (where, env) => {
    for (const name of Object.keys(env)) wanted(known.has(name), `${where}: the server reads no ${name}`);
    try {
      return loadConfig({ ...SECRETS, ...env });
    } catch (error) {
      wanted(false, `${where}: ${error.message}`);
      return {};
    }
  };
  kubernetes({ wanted, configured, paths });
  compose({ wanted, configured });
  image(wanted);
  return wrong;
}

function kubernetes({ wanted, configured, paths }) {
  const all = documents('deploy/kubernetes/countersign.yaml');
  const one = (kind) => all.find((document) => document.kind === kind) ?? {};
  const { spec: { replicas, strategy, selector, template: { metadata: { labels }, spec: pod } } } = one('Deployment');
  const [server] = pod.containers;
  const { data } = one('ConfigMap');
  const where = 'kubernetes';
  for (const { name, valueFrom: { secretKeyRef: { key } } } of server.env) wanted(key === name, `${where}: ${name} is of another secret`);
  const fromSecret = Object.fromEntries(server.env.map(({ name }) => [name, SECRETS[name] ?? INTERNAL_API_KEY]));
  for (const name of Object.keys(SECRETS)) wanted(name in fromSecret, `${where}: ${name} is not given`);
  const config = configured(where, { ...data, ...fromSecret });
  const ports = Object.fromEntries(server.ports.map(({ name, containerPort }) => [name, containerPort]));
  wanted(ports.http === config.port && ports.metrics === config.metricsPort, `${where}: its ports are not those of the server`);
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { path, port } = server[probe]?.httpGet ?? {};
    wanted(paths.has(path) && port in ports, `${where}: ${probe} asks ${path} of ${port}, which there is not`);
  }
  wanted(server.readinessProbe.httpGet.path === '/health/ready', `${where}: readiness is asked elsewhere`);
  wanted(server.livenessProbe.httpGet.path !== '/health/ready', `${where}: a database that is away would restart every server`);
  const delay = config.shutdownDelay;
  const { periodSeconds, failureThreshold } = server.readinessProbe;
  wanted(pod.terminationGracePeriodSeconds >= delay + DRAIN_SECONDS + LONGEST_CALL_SECONDS, `${where}: what is let through is cut off`);
  wanted(delay > periodSeconds * failureThreshold, `${where}: SHUTDOWN_DELAY is over before readiness was seen`);
  wanted(strategy.rollingUpdate.maxUnavailable === 0, `${where}: a rollout takes a server away first`);
  wanted(one('PodDisruptionBudget').spec.minAvailable < replicas, `${where}: no node could be drained`);
  const selectors = [selector, one('PodDisruptionBudget').spec.selector, { matchLabels: one('Service').spec.selector },
    one('NetworkPolicy').spec.podSelector, ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector)];
  for (const { matchLabels } of selectors) {
    wanted(Object.entries(matchLabels).every(([name, value]) => labels[name] === value), `${where}: a selector finds no server`);
  }
  wanted(one('Service').spec.ports.every(({ targetPort }) => targetPort in ports), `${where}: the service leads to no port`);
  const allowed = one('NetworkPolicy').spec.ingress.flatMap((rule) => rule.ports);
  wanted(allowed.every(({ port }) => port in ports), `${where}: the policy names no port`);
  const keys = pod.topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
  wanted(keys.includes('kubernetes.io/hostname') && new Set(keys).size === 2, `${where}: servers are not spread over nodes and zones`);
  const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext;
  const isImages = runAsNonRoot === true && runAsUser === NODE_USER;
  wanted(isImages && seccompProfile.type === 'RuntimeDefault', `${where}: it is not the image's user`);
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = server.securityContext;
  wanted(!allowPrivilegeEscalation && readOnlyRootFilesystem && capabilities.drop.join() === 'ALL', `${where}: the container may too much`);
  wanted(pod.automountServiceAccountToken === false, `${where}: it gets a token of the cluster's`);
  const volumes = Object.fromEntries(pod.volumes.map((volume) => [volume.name, volume]));
  const mounted = Object.fromEntries(server.volumeMounts.map(({ name, mountPath }) => [mountPath, volumes[name]]));
  wanted(Object.keys(mounted).sort().join() === [ANCHORS, '/tmp'].sort().join() && mounted['/tmp']?.emptyDir, `${where}: what is writable`);
  const claim = one('PersistentVolumeClaim');
  const isShared = claim.spec.accessModes.includes('ReadWriteMany') || replicas === 1;
  wanted(mounted[ANCHORS]?.persistentVolumeClaim.claimName === claim.metadata.name && isShared, `${where}: anchors are not shared`);
}

function compose({ wanted, configured }) {
  const [{ services: { server, database }, networks, volumes }] = documents('docker-compose.yml');
  const where = 'compose';
  // `${NAME:-default}` and `${NAME:?why}` as Compose reads them, with no variable set that has a default.
  const given = { ...SECRETS, POSTGRES_PASSWORD: 'secret' };
  const filled = ([name, value]) => [name, String(value)
    .replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, variable, kind, rest) => (kind === '-' ? rest : given[variable]))];
  const config = configured(where, Object.fromEntries(Object.entries(server.environment).map(filled)));
  const [{ subnet, gateway }] = networks.default.ipam.config;
  wanted(config.trustedProxies?.join() === gateway && gateway.startsWith(subnet.replace(/\.0\/24$/, '.')), `${where}: TRUSTED_PROXIES`);
  wanted(server.ports.every((port) => port.startsWith('127.0.0.1:') && port.endsWith(`:${config.port}`)), `${where}: ports`);
  const grace = Number.parseInt(server.stop_grace_period, 10);
  wanted(grace >= config.shutdownDelay + DRAIN_SECONDS, `${where}: calls are cut off`);
  const isClosed = server.read_only && server.cap_drop.join() === 'ALL' && server.security_opt.join() === 'no-new-privileges:true';
  wanted(isClosed, `${where}: rights`);
  const mounts = [...server.volumes, ...database.volumes].map((mount) => mount.split(':'));
  wanted(mounts.every(([name]) => name in volumes), `${where}: a volume is not declared`);
  wanted(mounts.some(([, path]) => path === ANCHORS) && server.tmpfs.includes('/tmp'), `${where}: what is writable`);
  wanted(server.depends_on.database.condition === 'service_healthy' && database.healthcheck, `${where}: the database's health`);
  wanted(new URL(config.databaseUrl ?? 'none:').hostname === 'database', `${where}: its database is another one`);
}

/** The last stage of the Dockerfile, and what is taken away before it. */
function image(wanted) {
  const [build, last] = text('Dockerfile').split(/^FROM .*$/m).slice(1);
  const lines = last.split('\n');
  for (const line of ['WORKDIR /app', 'ENV NODE_ENV=production', 'USER node', 'EXPOSE 3000']) {
    wanted(lines.includes(line), `image: no ${line}`);
  }
  wanted(!/^COPY (?!--from=build)/m.test(last), 'image: something is copied past the build');
  const cleared = /^RUN find (.*) -name '\*\.map' -delete$/m.exec(build)?.[1].split(' ') ?? [];
  wanted(['dist', 'sdk', 'node_modules'].every((folder) => cleared.includes(folder)), 'image: source maps');
  wanted(build.indexOf('-delete') > build.indexOf('npm prune'), 'image: what is pruned after the maps brings them back');
}
