import { type Permission, ROLES } from '../../../../domain/access/access.js';

/** How callers show who they are, by the name of the scheme. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The root key, a token or key of an agent, a personal key, a token of the identity provider, or the internal key. One scheme is ' +
      'enough: what is sent by several must name one caller, else it is 401.',
  },
  rootKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The root key only.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-countersign',
    description:
      'The session of a person who has signed in, which the browser sends along; `countersign` where the service is reached by http. ' +
      'What changes something is taken from pages of this service and of the origins in `CORS_ORIGINS` alone.',
  },
} as const;

type Requirement = Partial<Record<keyof typeof SECURITY_SCHEMES, string[]>>;

/** Each of them is enough. None where everybody may call. */
export function securityOf(permission: Permission | undefined): Requirement[] {
  const who = permission?.who ?? { root: 'all' };
  if (who.anonymous !== undefined) return [];
  return [
    { bearer: [] },
    ...(who.root === undefined ? [] : [{ rootKey: [] }]),
    ...(ROLES.some((role) => who[role] !== undefined) ? [{ session: [] }] : []),
  ];
}
