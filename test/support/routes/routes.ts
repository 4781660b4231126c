import { ACCESS, type AccessKey, type Permission } from '../../../src/domain/access/access.js';
import { anonymous, type CallOptions, type Client, type Reply } from '../http/actors.js';
import type { TestServer } from '../servers/server.js';

/** What a document says of one member or parameter. */
export interface MemberSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly nullable?: boolean;
  readonly maxLength?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: MemberSchema;
  readonly $ref?: string;
  readonly allOf?: readonly MemberSchema[];
  /** The members of the object, or of each item, where these are declared. */
  readonly properties?: Readonly<Record<string, MemberSchema>>;
}

export interface Route {
  readonly method: string;
  /** With its parameters in braces. */
  readonly template: string;
  /** Its key in the access table. */
  readonly access: string;
  /** Whether it documents a body of JSON. */
  readonly takesBody: boolean;
  /** Whether it takes a browser's form instead. */
  readonly takesForm: boolean;
  /** The documented members of its body. */
  readonly members: Readonly<Record<string, MemberSchema>>;
  readonly query: Readonly<Record<string, MemberSchema>>;
  readonly parameters: readonly string[];
}

interface Operation {
  readonly 'x-access': string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: MemberSchema }>> };
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: MemberSchema }[];
}

/** What browsers send forms as. */
export const FORM_TYPE = 'application/x-www-form-urlencoded';

type Schemas = Readonly<Record<string, MemberSchema>>;

/** Every route that the running server declares in its own OpenAPI document. */
export async function routesOf(server: TestServer): Promise<Route[]> {
  const document = await anonymous(server).get('/openapi.json');
  const paths = document.expect(200).at('paths') as Record<string, Record<string, Operation>>;
  const schemas = document.at('components.schemas') as Schemas;
  return Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      access: operation['x-access'],
      takesBody: operation.requestBody?.content['application/json'] !== undefined,
      takesForm: operation.requestBody?.content[FORM_TYPE] !== undefined,
      members: membersOf(operation, schemas),
      query: parametersIn('query', operation),
      parameters: Object.keys(parametersIn('path', operation)),
    })),
  );
}

function membersOf({ requestBody }: Operation, schemas: Schemas): Readonly<Record<string, MemberSchema>> {
  return resolved(requestBody?.content['application/json']?.schema ?? {}, schemas).properties ?? {};
}

/** With the members of what it refers to, however deep. */
function resolved(schema: MemberSchema, schemas: Schemas): MemberSchema {
  const ref = [schema, ...(schema.allOf ?? []), schema.items].find((part) => part?.$ref !== undefined)?.$ref;
  const found = ref === undefined ? undefined : schemas[ref.split('/').at(-1)!];
  // Words that the document explains in one place.
  if (found?.enum !== undefined && schema.type === undefined) return { ...found, ...(schema.nullable ? { nullable: true } : {}) };
  const properties = found?.properties;
  if (properties === undefined) return schema;
  const members = Object.entries(properties).map(([name, member]) => [name, resolved(member, schemas)] as const);
  return { ...schema, properties: Object.fromEntries(members) };
}

function parametersIn(place: string, { parameters = [] }: Operation): Record<string, MemberSchema> {
  return Object.fromEntries(parameters.filter((parameter) => parameter.in === place).map(({ name, schema }) => [name, schema]));
}

/** Well-formed ids of things that do not exist, of each kind that a path may name. */
export const ABSENT_IDS: Readonly<Record<string, string>> = {
  agents: 'agt_00000000000000000000000000absent0000',
  grant: 'grt_00000000000000000000000000absent0000',
  executions: 'exec_00000000000000000000000000absent0000',
  executionId: 'exec_00000000000000000000000000absent0000',
  hitl: 'hitl_00000000000000000000000000absent0000',
  organizations: 'org_00000000000000000000000000absent0000',
  users: 'usr_00000000000000000000000000absent0000',
  userId: 'usr_00000000000000000000000000absent0000',
  agentKeyId: 'key_00000000000000000000000000absent0000',
  keyId: 'key_00000000000000000000000000absent0000',
  sessions: 'sess_00000000000000000000000000absent0000',
  passkeys: 'pky_00000000000000000000000000absent0000',
  'chat-accounts': 'cha_00000000000000000000000000absent0000',
  notifications: 'ntf_00000000000000000000000000absent0000',
  deliveries: 'dlv_00000000000000000000000000absent0000',
  token: '0'.repeat(64),
  invitations: 'inv_00000000000000000000000000absent0000',
  teams: 'team_00000000000000000000000000absent0000',
  tenants: 'ten_00000000000000000000000000absent0000',
  stops: 'stp_00000000000000000000000000absent0000',
  tasks: 'task_00000000000000000000000000absent0000',
  erasures: 'ers_00000000000000000000000000absent0000',
  audit: 'audit_00000000000000000000000000absent0000',
};

/**
 * What a route's path names, in order: an id after what it is the id of (`agents/{id}` names `agents`), any other parameter by
 * its own name; the key of an agent is told from the key of a person.
 */
export function namedIn({ template }: Pick<Route, 'template'>): string[] {
  const names = [...template.matchAll(/([^/]+)\/\{(\w+)\}/g)].map(([, before, name]) => (name === 'id' ? before! : name!));
  return names[0] === 'agents' ? names.map((name) => (name === 'keyId' ? 'agentKeyId' : name)) : names;
}

/** The route's path with its parameters filled in, by `namedIn`; absent ids where none are given. */
export function pathOf(route: Route, ids: Readonly<Record<string, string>> = {}): string {
  const absentNames = { capability: 'file.delete', name: 'file.delete', channel: 'webhook', secret: 'absent' };
  const given: Readonly<Record<string, string>> = { ...ABSENT_IDS, ...absentNames, ...ids };
  const names = namedIn(route);
  return route.template.replace(/\{\w+\}/g, () => {
    const name = names.shift()!;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) throw new Error(`no value for ${name} in ${route.template}: add one to test/support/routes/routes.ts`);
    return encodeURIComponent(value);
  });
}

/** Pages and forms of browsers, and what the identity provider calls: others put into these what they like. */
export const isForBrowsers = ({ takesForm, template }: Route): boolean =>
  takesForm || /^\/(?:$|account$|(?:sign-in|invitations|hitl|chat-accounts)\b)|\/auth\/(?:login|callback)$/.test(template);

/** Called by clients of vendors of models, whose errors they have, and which send what they like: it is the provider's to judge. */
export const isOfVendors = ({ template }: Pick<Route, 'template'>): boolean =>
  /\/llm\/(?:chat\/completions|(?:v1\/)?(?:messages|models))/.test(template);

export const isPublic = (route: Route): boolean => route.access === 'public';

/** Whether a call to it changes something, as the access table says of the one that does by GET. */
export function changesSomething({ method, access }: Route): boolean {
  const permission: Permission | undefined = ACCESS[access as AccessKey];
  return method !== 'GET' || permission?.changes === true;
}

/** Calls it by its own method. */
export function callRoute(client: Client, { method }: Route, path: string, body?: unknown, options?: CallOptions): Promise<Reply> {
  switch (method) {
    case 'GET':
      return client.get(path, options);
    case 'DELETE':
      return client.delete(path, body, options);
    case 'PATCH':
      return client.patch(path, body, options);
    case 'PUT':
      return client.put(path, body, options);
    default:
      return client.post(path, body, options);
  }
}
