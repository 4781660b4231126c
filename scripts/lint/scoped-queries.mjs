// A query without a scope does not compile where it counts: what stores and queries offer takes a Scope (whose data the caller
// may see), or the Tx of a unit of work whose plan rests on one, or somebody whom a look-up by one has found. What needs none of
// these stands here, with its reason.
import ts from 'typescript';
import { finding, isTest, walk } from './sources.mjs';

const FIRST = new Set(['Scope', 'Tx', 'FoundPerson']);

/** Class.method → why it may read without a scope. */
export const WITHOUT_SCOPE = {
  'FactsQuery.read': 'the facts of calls whose agent the credential or a scoped lookup has given',
  'FactsQuery.addTasks': 'the tasks of calls whose facts were read',
  'RoutingDecisionStore.append': 'a decision of the organization that OrganizationsQuery has chosen from a scope',
  'CandidatesQuery.read': 'the agents of one organization, chosen by OrganizationsQuery from a scope',
  'SuccessRates.of': 'of one organization, chosen by OrganizationsQuery from a scope',
  'TaskOfCallQuery.read': 'the tasks of calls whose agent the credential or a scoped lookup has given',
  'TaskStore.orphaned': 'the sweep works for every organization',
  'OldDecisionsStore.onModuleInit': 'makes itself known to the platform, and reads nothing',
  'EndedTasksStore.onModuleInit': 'makes itself known to the platform, and reads nothing',
  'GrantUsageStore.read': 'uses of grants that the facts have just named',
  'DefinitionStore.list': 'the catalogue of one organization, chosen by OrganizationsQuery from a scope',
  'DefinitionStore.whyUnknown': 'names of one catalogue, of an organization that the caller acts in',
  'ScanSettingsQuery.of': 'what one organization wants of the scan: that of the agent whose credential calls, or of a scoped look-up',
  'SecretStore.list': 'the secrets of one organization, chosen by OrganizationsQuery from a scope',
  'SecretStore.find': 'secrets that a definition names, of the organization whose definition it is',
  'EligibleDecidersQuery.decidableBy': 'who may decide requests that a scoped query has just given',
  'LimitRoomQuery.ofGrants': 'uses of grants that a scoped list has just given',
  'LimitRoomQuery.statesOf': 'uses of a grant that a decision has just named',
  'UnknownCommits.settle': 'looks up what this process itself had sent',
  'ChannelStore.of': 'channels of organizations that a scope, or rows of what is delivered to them, have given',
  'ChannelStore.countUnreadable': 'counts for readiness, and names nobody',
  'ExecutionStore.abandoned': 'recovery works for every organization',
  'ExecutionStore.find': 'an execution that this process itself had begun, or of the organization that the credential is of',
  'NodeWorkQuery.find': 'looks for what this process itself has queued',
  'NodeWorkQuery.cancelled': 'of the agent that the credential is of',
  'WorkBatches.find': 'work that a node names, of the organization that its credential is of',
  'WorkBatches.queue': 'of an execution that this process itself has begun; a compare-and-set of one row',
  'WorkBatches.poll': 'of the agent that the credential is of; a compare-and-set of one row',
  'WorkBatches.start': 'of the agent that the credential is of; a compare-and-set of one row',
  'WorkBatches.answer': 'of the agent that the credential is of; a compare-and-set of one row',
  'NodeWorkStore.withdraw': 'of an execution that this process itself has begun; a compare-and-set of one row',
  'RootKeyStore.isSetUp': 'the root key belongs to the installation; asked by the command line alone',
  'RootKeyStore.passOldKey': 'the root key reaches every organization, so its end is awaited in each',
  'SessionStore.passEnded': 'waits for what is under way, and reads nothing',
  'PasskeysQuery.shown': 'a credential is looked up before there is a scope; it answers one row at most',
  'AgentKeyStore.find': 'credentials are looked up before there is a scope; each answers one row at most',
  'SetupTokenStore.find': 'a credential is looked up before there is a scope; it answers one row at most',
  'ProviderSessionsQuery.of': 'whose sessions a verified logout token of the provider ends is looked up before there is a scope',
  'ProviderPeopleQuery.find': 'who a verified token is of is looked up before there is a scope',
  'ProviderPeopleQuery.home': 'where somebody new belongs, by the tenant that a verified token names',
  'HitlEventsQuery.now': 'is the extent of all events, and names nobody',
  'HitlEventsQuery.range': 'is the extent of all events, and names nobody',
  'RetentionRunStore.read': 'a retention run works for every organization, one after another',
  'EndedExecutionsStore.onModuleInit': 'makes itself known to the platform, and reads nothing',
  'EndedRequestsStore.onModuleInit': 'makes itself known to the platform, and reads nothing',
  'DeliveryStore.dueTargets': 'the worker delivers for every organization',
  'DeliveryStore.claim': 'the worker delivers for every organization',
  'DeliveryStore.settle': 'ends what the worker has claimed',
  'MessagesQuery.of': 'what deliveries that the worker has claimed are about',
  'DecisionFactsQuery.read': 'a request that a scoped look-up has just given',
  'VerificationRateLimitStore.take': 'keyed by the credential itself',
  'VerificationRateLimitStore.giveBack': 'keyed by the credential itself',
};

export function checkScopedQueries(sources, exceptions = WITHOUT_SCOPE) {
  const findings = [];
  for (const source of sources) {
    if (isTest(source.path) || !/^src\/modules\/.*\.(store|query)\.ts$/.test(source.path)) continue;
    walk(source.tree, (node) => {
      // What has no body reads nothing: whoever implements it is looked at.
      if (!ts.isMethodDeclaration(node) || !node.body || !ts.isClassDeclaration(node.parent) || isHidden(node)) return;
      const name = `${node.parent.name?.text}.${node.name.getText(source.tree)}`;
      const [first] = node.parameters;
      const type = first?.type && ts.isTypeReferenceNode(first.type) ? first.type.typeName.getText(source.tree) : undefined;
      if (FIRST.has(type) || name in exceptions) return;
      findings.push(finding(source, node, 'scoped-queries', `${name} must take a Scope or a Tx first, or say why not in this rule's file`));
    });
  }
  return findings;
}

function isHidden(node) {
  return (node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword);
}
