/** The groups of the interface, each in the order in which it is shown, with the tags of its operations. */
const GROUPS: Readonly<Record<string, readonly (readonly [name: string, description: string])[]>> = {
  API: [
    ['Agents', 'Who acts: software agents, their risk level, and the tokens and keys by which they come.'],
    ['Capabilities and grants', 'What can be done, and which agent or team may do it, in which mode (`GrantWord` says which there are).'],
    ['Secrets', 'What connectors show to the systems that they call: set here, sent to their origins, and never read.'],
    ['Execution', 'The gate: an agent asks, and the service runs, blocks, or has a person asked.'],
    ['Language models', 'The gateway: calls to models, in the formats of two vendors or in one of its own, scanned for personal data.'],
    ['Human in the loop', 'Requests to people, and their decisions. `?form=` chooses the spelling of a request: `snake` or `camel`.'],
    ['Routing and delegation', 'Which agent is the best for a task, and tasks that agents and people give to agents.'],
    ['Audit', 'The log of everything, with proofs, exports, and the erasure of personal data from it.'],
    ['Stops', 'Emergency stops of an agent, an organization, or everything.'],
    ['Teams', 'Teams of people, which agents belong to.'],
    ['Organizations and people', 'Organizations, accounts, invitations and personal keys.'],
    ['Notifications', 'How people are notified: channels, and what each person was told.'],
    ['Nodes', 'Machines that host agents: setup tokens, and what they are exchanged for.'],
    ['Sign-in', 'Sessions of people, and the ways in: passkeys, passwords, invitations.'],
    ['Operations', 'Whether the server is up and serves.'],
  ],
  Browsers: [
    ['Pages and forms', 'For browsers, chats and the identity provider, not for programs: pages, their forms, and redirections.'],
  ],
  'Commercial platform': [
    ['Internal', 'For the commercial platform alone: tenants, their subscriptions, and tokens of the identity provider.'],
  ],
};

export const INTERNAL_TAG = 'Internal';

/** Every tag that an operation may have, described. */
export const TAGS = Object.values(GROUPS).flat().map(([name, description]) => ({ name, description }));

/** How the tags are grouped, for pages that show groups: the API comes first. */
export const TAG_GROUPS = Object.entries(GROUPS).map(([name, tags]) => ({ name, tags: tags.map(([tag]) => tag) }));
