// Made of openapi.json by `npm run openapi`, which says what to change instead of this file.

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type HealthReply = {
    status: string;
};

export type ReadyReply = {
    status: string;
    /**
     * Milliseconds between this server's clock and the database's.
     */
    clockSkewMs: number;
    /**
     * Effects that were given up, or wait for a part that is not set up.
     */
    parkedEffects: number;
    /**
     * For how many seconds entries have stood that not every anchor knows; 0: there are none.
     */
    unanchoredSeconds: number;
    /**
     * Notification channels that are off: this ENCRYPTION_KEY does not open their settings.
     */
    unreadableChannels: number;
    /**
     * Deliveries to channels that wait; 10,000 stands for more.
     */
    deliveriesWaiting: number;
    /**
     * Whether `AUDIT_SIGNING_KEY` is the key that signs. `retired`: it was rotated, and this server has the old one. `replaced`: another one is in the database, and nothing vouches for it.
     */
    signingKey: 'current' | 'retired' | 'replaced';
    /**
     * What is not as it should be with the anchors, though calls are served.
     */
    anchorWarning?: string;
    /**
     * Why entries are kept for less time than the law asks.
     */
    retentionWarning?: string;
    /**
     * Why longer is advised, with agents of high risk.
     */
    highRiskRetentionWarning?: string;
    /**
     * Why nothing old is swept.
     */
    archiveWarning?: string;
};

export type VersionReply = {
    /**
     * Of the server that answers.
     */
    version: string;
    /**
     * The newest migration that the database has had.
     */
    schema: string;
};

export type PatchOperationReply = {
    op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
    /**
     * RFC 6901, from the root of the input.
     */
    path: string;
    /**
     * Of `move` and `copy`: from where.
     */
    from?: string;
    /**
     * Of `add`, `replace` and `test`: any JSON value.
     */
    value?: unknown;
};

export type EditReply = {
    by: string;
    at: string;
    /**
     * From the input as it was asked to what would run, or ran.
     */
    diff: Array<PatchOperationReply>;
};

export type GateExecuted = {
    executionId: string;
    /**
     * The mode that decided.
     */
    effectiveMode: HitlMode;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    /**
     * Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it.
     */
    runs: 'service' | 'caller';
    /**
     * The request to a person, where there was one.
     */
    hitlRequestId?: string;
    /**
     * The reviewer's comment.
     */
    comment?: string;
    /**
     * What ran, where a reviewer edited it.
     */
    input?: {
        [key: string]: unknown;
    };
    /**
     * Who edited it, when, and what changed.
     */
    edit?: EditReply;
    status: 'executed';
    /**
     * Its closing entry in the audit log.
     */
    auditId: string;
    /**
     * What the runtime answered: any JSON value.
     */
    output?: unknown;
    /**
     * Milliseconds.
     */
    durationMs?: number;
};

export type ReasonReply = {
    /**
     * Which rule it was, in a word.
     */
    rule: string;
    /**
     * For people. It repeats no value of the input.
     */
    detail: string;
};

export type LimitStateReply = {
    /**
     * How many calls, or with `sum` how much of it. A whole number for calls.
     */
    max: number;
    /**
     * In which time: a window that slides, or `total` for ever.
     */
    per: 'minute' | 'hour' | 'day' | 'total';
    /**
     * What is summed instead of counting calls: a CEL expression that answers a number, over what conditions read.
     */
    sum?: string;
    /**
     * The mode of what goes past it, if it is stricter than the grant's.
     */
    then: 'propose' | 'escalate' | 'block';
    /**
     * What is used of it: begun, or waiting for a decision.
     */
    used: number;
    left: number;
    /**
     * Seconds until there is room again, where time makes it.
     */
    retryAfter?: number;
};

export type GatePending = {
    executionId: string;
    /**
     * The mode that decided.
     */
    effectiveMode: HitlMode;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    /**
     * Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it.
     */
    runs: 'service' | 'caller';
    /**
     * The request that waits for a person.
     */
    hitlRequestId?: string;
    /**
     * The reviewer's comment.
     */
    comment?: string;
    /**
     * What ran, where a reviewer edited it.
     */
    input?: {
        [key: string]: unknown;
    };
    /**
     * Who edited it, when, and what changed.
     */
    edit?: EditReply;
    status: 'pending_hitl';
    /**
     * Until when a person can decide.
     */
    expiresAt: string;
    /**
     * Which rules decided, and why. Absent once it was approved and runs.
     */
    reasons?: Array<ReasonReply>;
    /**
     * Limits of the grant that are used up.
     */
    limits?: Array<LimitStateReply>;
};

export type GateBlocked = {
    executionId: string;
    /**
     * The mode that decided.
     */
    effectiveMode: HitlMode;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    status: 'blocked';
    /**
     * Its entry in the audit log.
     */
    auditId: string;
    /**
     * Why it was blocked.
     */
    reason: string;
    /**
     * Which rules decided, and why.
     */
    reasons: Array<ReasonReply>;
    /**
     * Limits of the grant that are used up.
     */
    limits?: Array<LimitStateReply>;
};

export type ErrorReply = {
    code: string;
    message: string;
};

export type GateFailed = {
    executionId: string;
    /**
     * The mode that decided.
     */
    effectiveMode: HitlMode;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    /**
     * Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it.
     */
    runs: 'service' | 'caller';
    /**
     * The request to a person, where there was one.
     */
    hitlRequestId?: string;
    /**
     * The reviewer's comment.
     */
    comment?: string;
    /**
     * What ran, where a reviewer edited it.
     */
    input?: {
        [key: string]: unknown;
    };
    /**
     * Who edited it, when, and what changed.
     */
    edit?: EditReply;
    status: 'failed';
    /**
     * Its closing entry in the audit log; absent while it is open.
     */
    auditId?: string;
    error: ErrorReply;
    /**
     * What the runtime answered: any JSON value.
     */
    output?: unknown;
    /**
     * Milliseconds.
     */
    durationMs?: number;
    /**
     * It may have been done, and nobody here can say. `detail` says what to do.
     */
    indeterminate?: boolean;
    /**
     * What to do next, where that is not plain.
     */
    detail?: string;
};

export type GateCancelled = {
    executionId: string;
    /**
     * The mode that decided.
     */
    effectiveMode: HitlMode;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    /**
     * Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it.
     */
    runs: 'service' | 'caller';
    /**
     * The request to a person, where there was one.
     */
    hitlRequestId?: string;
    /**
     * The reviewer's comment.
     */
    comment?: string;
    /**
     * What ran, where a reviewer edited it.
     */
    input?: {
        [key: string]: unknown;
    };
    /**
     * Who edited it, when, and what changed.
     */
    edit?: EditReply;
    status: 'cancelled';
    /**
     * Why it was cancelled.
     */
    reason: string;
    /**
     * The entry in the audit log that says so.
     */
    auditId?: string;
};

export type GateDryRun = {
    status: 'dry_run';
    /**
     * `run`, `ask`, `block`, or the code of the refusal.
     */
    decision: string;
    /**
     * The mode that would decide.
     */
    effectiveMode?: HitlMode;
    /**
     * Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it. Absent where nobody would act.
     */
    runs?: 'service' | 'caller';
    /**
     * Which rules decided, and why.
     */
    reasons: Array<ReasonReply>;
    /**
     * Limits of the grant that are used up.
     */
    limits?: Array<LimitStateReply>;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
};

export type ExecuteDto = {
    /**
     * Name of the capability.
     */
    capability: string;
    /**
     * What the action is done with. Also accepted as `payload`.
     */
    input?: {
        [key: string]: unknown;
    };
    /**
     * Name of the action, for the reviewer.
     */
    action?: string | null;
    /**
     * `task_id`, `session_id`, `on_behalf_of`, and what else you need.
     */
    context?: {
        [key: string]: unknown;
    };
    /**
     * Ask what the gate would do, and why. Nothing is created or run. Also accepted as `dry_run`.
     */
    dryRun?: boolean;
    /**
     * For root, and for dry runs of administrators: which agent acts. An agent acts for itself. Also accepted as `agent_id`.
     */
    agentId?: string;
};

export type CreateRequestDto = {
    /**
     * Root only: the agent that asks. An agent asks for itself. Also accepted as `agent_id`.
     */
    agentId?: string;
    /**
     * Name of the capability.
     */
    capability: string;
    /**
     * Name of the action, as the adapter calls it.
     */
    action?: string | null;
    /**
     * What the agent wants to do, shown to the reviewer as it is. Also accepted as `input`.
     */
    payload?: {
        [key: string]: unknown;
    };
    /**
     * `task_id`, `session_id`, `on_behalf_of`, and what else you need.
     */
    context?: {
        [key: string]: unknown;
    };
};

export type DecidableByReply = {
    /**
     * Active people who may approve it now, root and break-glass aside. 0: until somebody gets the right, only these can.
     */
    count: number;
    /**
     * The level at which it stands, as `escalationLevel`.
     */
    level: number;
    /**
     * All of them are admins and owners: nobody nearer to the agent can answer.
     */
    adminsOnly?: boolean;
};

export type QuorumGroupReply = {
    teamId?: string;
    role?: string;
};

export type QuorumReply = {
    /**
     * How many distinct people have to approve.
     */
    approvals: number;
    /**
     * Of each at least one.
     */
    groups?: Array<QuorumGroupReply>;
};

export type VoteReply = {
    voter: string;
    at: string;
    note: string | null;
};

export type ReminderReply = {
    /**
     * Seconds before the end of each window.
     */
    secondsBefore: number;
    /**
     * It also moves the request up one level.
     */
    escalate?: boolean;
};

export type DecisionReply = {
    outcome: 'approved' | 'rejected' | 'cancelled';
    /**
     * The reviewer's comment.
     */
    note: string | null;
    /**
     * What ended it; `decidedBy` says who.
     */
    by: 'human' | 'timeout' | 'system';
};

export type RequestExecutionReply = {
    id: string;
    /**
     * What came of the action; `executed` after it ran.
     */
    status: 'pending_hitl' | 'running' | 'executed' | 'failed' | 'indeterminate' | 'blocked' | 'cancelled';
    /**
     * Why it was cancelled.
     */
    reason?: string;
    /**
     * What the runtime answered: any JSON value.
     */
    output?: unknown;
    error?: ErrorReply;
    /**
     * Milliseconds.
     */
    durationMs?: number;
};

export type RequestReply = {
    id: string;
    /**
     * The execution that waits for it; what came of it is at `GET /executions/{id}`, and here once it is approved.
     */
    executionId: string;
    agentId: string;
    agentName: string;
    capability: string;
    action?: string;
    /**
     * What the agent wants to do: what would run.
     */
    payload: {
        [key: string]: unknown;
    };
    /**
     * As the caller gave it.
     */
    context?: {
        [key: string]: unknown;
    };
    /**
     * The delegated task that it does.
     */
    taskId?: string;
    /**
     * The agents that the task came through, the first first, and the one that acts last.
     */
    chain?: Array<string>;
    /**
     * For whom the agent says that it acts: a claim of its own.
     */
    onBehalfOf?: string;
    hitlMode: 'propose' | 'escalate';
    status: 'pending' | 'escalated' | 'approved' | 'rejected' | 'timed_out' | 'cancelled';
    /**
     * Who acts once it is approved: this service, or the caller.
     */
    runs: 'service' | 'caller';
    /**
     * 0: the owner of the agent (or of a delegated task) and its team, 1: leads of that team, 2: admins of the organization.
     */
    escalationLevel: number;
    /**
     * Of an open request, where one is read, handed on, or listed as somebody's queue: who can answer it now.
     */
    decidableBy?: DecidableByReply;
    /**
     * SHA-256 of what would run; send it back as `expectedDigest`.
     */
    actionDigest: string;
    /**
     * Rises with each edit.
     */
    version: number;
    /**
     * As it was asked, where it was edited since.
     */
    requestedInput?: {
        [key: string]: unknown;
    };
    edit?: EditReply;
    /**
     * Several people have to approve.
     */
    quorum?: QuorumReply;
    /**
     * Who has approved what stands now, where several people have to.
     */
    votes?: Array<VoteReply>;
    /**
     * When people are reminded, before the end of each window.
     */
    reminders?: Array<ReminderReply>;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    /**
     * Why a person is asked.
     */
    reasons: Array<ReasonReply>;
    createdAt: string;
    expiresAt: string;
    /**
     * In whose queue alone it stands.
     */
    escalatedTo?: string;
    escalatedAt?: string;
    escalationReason?: string;
    /**
     * Whoever ended it; `system` where time did.
     */
    decidedBy?: string;
    decidedAt?: string;
    approvedBy?: string;
    approvedAt?: string;
    rejectedBy?: string;
    rejectedAt?: string;
    /**
     * The reviewer's comment.
     */
    comment?: string;
    /**
     * It was approved though separation of duties or a quorum barred it.
     */
    breakGlass?: boolean;
    /**
     * How it ended.
     */
    decision?: DecisionReply;
    execution?: RequestExecutionReply;
};

export type RequestEnvelope = {
    request: RequestReply;
};

export type OrganizationSettingsReply = {
    separationOfDuties: 'standard' | 'strict';
    /**
     * Links in mails decide, without signing in.
     */
    decideByMail: boolean;
    /**
     * Whether calls to models may leave the scan out.
     */
    scanPii: 'optional' | 'required';
    /**
     * What the scan looks for and does.
     */
    pii: {
        [key: string]: unknown;
    };
};

export type OrganizationReply = {
    id: string;
    name: string;
    tenantId?: string;
    settings: OrganizationSettingsReply;
    createdAt: string;
    updatedAt: string;
};

export type OrganizationListReply = {
    organizations: Array<OrganizationReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type MakeOrganizationDto = {
    /**
     * Shown to people.
     */
    name: string;
    /**
     * The tenant it belongs to. An owner's: always their own tenant. Also accepted as `tenant_id`.
     */
    tenantId?: string | null;
};

export type OrganizationEnvelope = {
    organization: OrganizationReply;
};

export type OrganizationSettingsDto = {
    /**
     * Who may not approve. `strict` also bars who stands behind the agent, and rights younger than the request. Set by owners. Also accepted as `separation_of_duties`.
     */
    separationOfDuties?: 'standard' | 'strict';
    /**
     * Whether links in mails decide requests of level 0 and 1 without signing in, once each. Of no effect under `strict`. Also accepted as `decide_by_mail`.
     */
    decideByMail?: boolean;
    /**
     * `required`: nobody may leave the scan of calls to models out, and what no scan reads does not leave. Also accepted as `scan_pii`.
     */
    scanPii?: 'optional' | 'required';
    /**
     * What the scan looks for and does: `action`, `entities`, `answers`, `allow`, `terms`. Replaces what was set; `{}` is the default.
     */
    pii?: {
        [key: string]: unknown;
    };
};

export type UpdateOrganizationDto = {
    /**
     * Shown to people.
     */
    name?: string;
    /**
     * Settings left out stay.
     */
    settings?: OrganizationSettingsDto;
};

export type PersonalKeyReply = {
    id: string;
    name: string;
    createdAt: string;
    expiresAt: string | null;
};

export type PersonalKeyListReply = {
    keys: Array<PersonalKeyReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type MakePersonalKeyDto = {
    /**
     * What it is for, so that it can be told from others.
     */
    name: string;
    /**
     * When it ends by itself. Must lie ahead. Default: never. Also accepted as `expires_at`.
     */
    expiresAt?: string | null;
};

export type NewPersonalKeyReply = {
    key: PersonalKeyReply;
    /**
     * For `Authorization: Bearer`. Null in the replay of an Idempotency-Key: it is shown once.
     */
    secret: string | null;
};

export type TeamReply = {
    id: string;
    organizationId: string;
    name: string;
    description?: string;
    /**
     * Open accounts only.
     */
    memberCount: number;
    createdAt: string;
    /**
     * When name or description were last set.
     */
    updatedAt: string;
};

export type TeamListReply = {
    teams: Array<TeamReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type NewTeamDto = {
    /**
     * Need not be unique.
     */
    name: string;
    /**
     * What the team is for.
     */
    description?: string | null;
    /**
     * Root, and the owner of a tenant: whose it is. Default: the own organization. Also accepted as `organization_id`.
     */
    organizationId?: string;
};

export type TeamMemberReply = {
    userId: string;
    role: 'member' | 'lead';
    /**
     * When the person joined.
     */
    since: string;
    name?: string;
    email?: string;
};

export type TeamWithMembersReply = {
    id: string;
    organizationId: string;
    name: string;
    description?: string;
    /**
     * Open accounts only.
     */
    memberCount: number;
    createdAt: string;
    /**
     * When name or description were last set.
     */
    updatedAt: string;
    /**
     * In the order in which they joined.
     */
    members: Array<TeamMemberReply>;
};

export type TeamEnvelope = {
    team: TeamWithMembersReply;
};

export type UpdateTeamDto = {
    /**
     * Need not be unique.
     */
    name?: string;
    /**
     * What the team is for.
     */
    description?: string | null;
};

export type NewMemberDto = {
    /**
     * A person with an open account in the organization of the team. Also accepted as `user_id`.
     */
    userId: string;
    /**
     * Leads decide what was escalated once. Default `member`.
     */
    role?: 'member' | 'lead';
};

export type MemberReply = {
    userId: string;
    role: 'member' | 'lead';
    /**
     * When the person joined.
     */
    since: string;
};

export type MemberEnvelope = {
    member: MemberReply;
};

export type HttpConnectorDto = {
    type: 'http';
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /**
     * Its origin stands as it is; path and query may hold `{input.member}`, which stands for that member of the input.
     */
    url: string;
    /**
     * Added to the url. Texts may hold `{input.member}`, which stands for that member of the input.
     */
    query?: {
        [key: string]: string | number | boolean;
    };
    /**
     * None that frames the message; `Idempotency-Key` and `traceparent` are the service's own. Texts may hold `{input.member}`, which stands for that member of the input. `{secrets.name}` stands for a secret, where the origin of `url` is one of the secret's.
     */
    headers?: {
        [key: string]: string;
    };
    /**
     * Any JSON value; not with GET and HEAD. Without it nothing is sent. Texts may hold `{input.member}`, which stands for that member of the input. `{secrets.name}` stands for a secret, where the origin of `url` is one of the secret's.
     */
    body?: unknown;
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds?: number;
    /**
     * How many bytes of an answer are read at most. Default 262144.
     */
    maxBytes?: number;
    /**
     * Whether it may be asked again with the same `Idempotency-Key`. Default false.
     */
    idempotent?: boolean;
};

export type McpConnectorDto = {
    type: 'mcp';
    /**
     * Of a server that speaks MCP by streamable HTTP. It stands as it is, without `{input…}`.
     */
    url: string;
    /**
     * The tool's name, exact. The input is its arguments.
     */
    tool: string;
    /**
     * None that frames the message; `Idempotency-Key` and `traceparent` are the service's own. `{secrets.name}` stands for a secret, where the origin of `url` is one of the secret's. Without `{input…}`.
     */
    headers?: {
        [key: string]: string;
    };
    /**
     * The digest of the tool as it was when the capability was defined: of name, description, schemas and annotations. A tool that has another one is not called. Given, the tool has to have it; left out, the tool is taken as it is now.
     */
    toolDigest?: string;
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds?: number;
    /**
     * How many bytes of an answer are read at most. Default 262144.
     */
    maxBytes?: number;
    /**
     * Whether it may be asked again with the same `Idempotency-Key`. Default false.
     */
    idempotent?: boolean;
};

export type EmailConnectorDto = {
    type: 'email';
    /**
     * E-mail addresses alone, 50 in all. `{input.member}` stands for one, or for a list of them.
     */
    to: string | Array<string>;
    /**
     * E-mail addresses alone, 50 in all. `{input.member}` stands for one, or for a list of them.
     */
    cc?: string | Array<string>;
    /**
     * E-mail addresses alone, 50 in all. `{input.member}` stands for one, or for a list of them.
     */
    bcc?: string | Array<string>;
    /**
     * One line. Texts may hold `{input.member}`, which stands for that member of the input.
     */
    subject: string;
    /**
     * The mail as plain text. Texts may hold `{input.member}`, which stands for that member of the input.
     */
    text: string;
    /**
     * The mail as HTML besides. Texts may hold `{input.member}`, which stands for that member of the input. It is escaped there.
     */
    html?: string;
    /**
     * One e-mail address.
     */
    replyTo?: string;
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds?: number;
};

export type NodeConnectorDto = {
    type: 'node';
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds?: number;
    /**
     * Whether it may be asked again with the same `Idempotency-Key`. Default false.
     */
    idempotent?: boolean;
};

export type HttpConnectorReply = {
    type: 'http';
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /**
     * Its origin stands as it is; path and query may hold `{input.member}`, which stands for that member of the input.
     */
    url: string;
    /**
     * Added to the url. Texts may hold `{input.member}`, which stands for that member of the input.
     */
    query?: {
        [key: string]: string | number | boolean;
    };
    /**
     * None that frames the message; `Idempotency-Key` and `traceparent` are the service's own. Texts may hold `{input.member}`, which stands for that member of the input. `{secrets.name}` stands for a secret, where the origin of `url` is one of the secret's.
     */
    headers?: {
        [key: string]: string;
    };
    /**
     * Any JSON value; not with GET and HEAD. Without it nothing is sent. Texts may hold `{input.member}`, which stands for that member of the input. `{secrets.name}` stands for a secret, where the origin of `url` is one of the secret's.
     */
    body?: unknown;
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds: number;
    /**
     * How many bytes of an answer are read at most. Default 262144.
     */
    maxBytes: number;
    /**
     * Whether it may be asked again with the same `Idempotency-Key`. Default false.
     */
    idempotent: boolean;
};

export type McpConnectorReply = {
    type: 'mcp';
    /**
     * Of a server that speaks MCP by streamable HTTP. It stands as it is, without `{input…}`.
     */
    url: string;
    /**
     * The tool's name, exact. The input is its arguments.
     */
    tool: string;
    /**
     * None that frames the message; `Idempotency-Key` and `traceparent` are the service's own. `{secrets.name}` stands for a secret, where the origin of `url` is one of the secret's. Without `{input…}`.
     */
    headers?: {
        [key: string]: string;
    };
    /**
     * The digest of the tool as it was when the capability was defined: of name, description, schemas and annotations. A tool that has another one is not called. Given, the tool has to have it; left out, the tool is taken as it is now.
     */
    toolDigest?: string;
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds: number;
    /**
     * How many bytes of an answer are read at most. Default 262144.
     */
    maxBytes: number;
    /**
     * Whether it may be asked again with the same `Idempotency-Key`. Default false.
     */
    idempotent: boolean;
};

export type EmailConnectorReply = {
    type: 'email';
    /**
     * E-mail addresses alone, 50 in all. `{input.member}` stands for one, or for a list of them.
     */
    to: string | Array<string>;
    /**
     * E-mail addresses alone, 50 in all. `{input.member}` stands for one, or for a list of them.
     */
    cc?: string | Array<string>;
    /**
     * E-mail addresses alone, 50 in all. `{input.member}` stands for one, or for a list of them.
     */
    bcc?: string | Array<string>;
    /**
     * One line. Texts may hold `{input.member}`, which stands for that member of the input.
     */
    subject: string;
    /**
     * The mail as plain text. Texts may hold `{input.member}`, which stands for that member of the input.
     */
    text: string;
    /**
     * The mail as HTML besides. Texts may hold `{input.member}`, which stands for that member of the input. It is escaped there.
     */
    html?: string;
    /**
     * One e-mail address.
     */
    replyTo?: string;
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds: number;
};

export type NodeConnectorReply = {
    type: 'node';
    /**
     * Seconds until the call is given up, retries included. Default 30.
     */
    timeoutSeconds: number;
    /**
     * Whether it may be asked again with the same `Idempotency-Key`. Default false.
     */
    idempotent: boolean;
};

export type CapabilityReply = {
    /**
     * The name.
     */
    id: string;
    name: string;
    description: string;
    category: string;
    defaultHitlMode: HitlMode;
    /**
     * Always escalate, whatever a grant says.
     */
    hardcoded: boolean;
    riskScore: number;
    /**
     * JSON Schema of the input.
     */
    inputSchema: {
        [key: string]: unknown;
    } | null;
    /**
     * What the service does itself. Shown to whoever may define capabilities.
     */
    connector?: DefinedConnector;
};

export type CapabilityListReply = {
    capabilities: Array<CapabilityReply>;
};

export type DefineCapabilityDto = {
    /**
     * Lower-case words joined by `.` or `:`, exact and case-sensitive. None that reads like a hardcoded one.
     */
    name: string;
    /**
     * What it does, in one sentence.
     */
    description: string;
    /**
     * For sorting. Default `custom`.
     */
    category?: string;
    /**
     * Mode of a grant that names none. Default `propose`. Also accepted as `default_hitl_mode`.
     */
    defaultHitlMode?: HitlMode;
    /**
     * From 0, harmless, to 100. Default 50. Also accepted as `risk_score`.
     */
    riskScore?: number;
    /**
     * A JSON Schema for the input; what does not fit is refused before anybody is asked. Also accepted as `input_schema`.
     */
    inputSchema?: {
        [key: string]: unknown;
    };
    /**
     * What the service does itself. Without one the agent does the work and reports.
     */
    connector?: Connector;
};

export type CapabilityEnvelope = {
    capability: CapabilityReply;
};

export type UpdateCapabilityDto = {
    /**
     * What it does, in one sentence.
     */
    description?: string;
    /**
     * For sorting.
     */
    category?: string;
    /**
     * Mode of a grant that names none. Also accepted as `default_hitl_mode`.
     */
    defaultHitlMode?: HitlMode;
    /**
     * From 0, harmless, to 100. Also accepted as `risk_score`.
     */
    riskScore?: number;
    /**
     * A JSON Schema for the input; what does not fit is refused before anybody is asked. Also accepted as `input_schema`.
     */
    inputSchema?: {
        [key: string]: unknown;
    } | null;
    /**
     * What the service does itself. Without one the agent does the work and reports.
     */
    connector?: Connector | null;
};

export type SecretReply = {
    /**
     * In connectors: `{secrets.crm-token}`.
     */
    name: string;
    origins: Array<string>;
    /**
     * Capabilities whose connector names it.
     */
    usedBy: Array<string>;
    createdAt: string;
    /**
     * When value and origins were set last.
     */
    updatedAt: string;
};

export type SecretListReply = {
    /**
     * By name.
     */
    secrets: Array<SecretReply>;
};

export type PutSecretDto = {
    /**
     * The value: one line. Nobody reads it again, and connectors show it to `origins` alone.
     */
    value: string;
    /**
     * Where connectors may send it: scheme, host and port, as they stand in the url of the connector.
     */
    origins: Array<string>;
};

export type SecretEnvelope = {
    secret: SecretReply;
};

export type AgentReply = {
    id: string;
    organizationId: string;
    name: string;
    description?: string;
    riskLevel: 'minimal' | 'limited' | 'high' | 'unacceptable';
    status: 'active' | 'deactivated';
    /**
     * Names of the capabilities it holds now.
     */
    capabilities: Array<string>;
    tags: Array<string>;
    /**
     * Who answers for it; stays when that account is closed.
     */
    ownerId?: string;
    teamId?: string;
    /**
     * As it was given.
     */
    metadata: {
        [key: string]: unknown;
    };
    createdAt: string;
    updatedAt: string;
    /**
     * When its node last sent a heartbeat, or asked for work.
     */
    nodeLastSeen?: string;
    /**
     * What its node said of its load, 0 to 1.
     */
    nodeLoad?: number;
    /**
     * What its node said of its version.
     */
    nodeVersion?: string;
};

export type AgentListReply = {
    agents: Array<AgentReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type ConditionDto = {
    /**
     * A CEL expression over input, context, agent, capability and now.
     */
    when: string;
    /**
     * The mode that then holds, if it is stricter than the grant's. Also accepted as `hitl_mode`.
     */
    hitlMode: HitlMode;
    /**
     * Shown to the reviewer.
     */
    reason?: string;
};

export type LimitDto = {
    /**
     * How many calls, or with `sum` how much of it. A whole number for calls.
     */
    max: number;
    /**
     * In which time: a window that slides, or `total` for ever.
     */
    per: 'minute' | 'hour' | 'day' | 'total';
    /**
     * What is summed instead of counting calls: a CEL expression that answers a number, over what conditions read.
     */
    sum?: string;
    /**
     * The mode of what goes past it, if it is stricter than the grant's.
     */
    then: 'propose' | 'escalate' | 'block';
};

export type QuorumGroupDto = {
    /**
     * A team of the organization. Either this or `role`. Also accepted as `team_id`.
     */
    teamId?: string;
    /**
     * A role; whoever has a higher one counts too. Either this or `teamId`.
     */
    role?: 'owner' | 'admin' | 'member';
};

export type QuorumDto = {
    /**
     * How many distinct people have to approve. One rejection ends it.
     */
    approvals: number;
    /**
     * Of each of them at least one must be among those who approve. Left out, they stay; an empty list removes them.
     */
    groups?: Array<QuorumGroupDto>;
};

export type ReminderDto = {
    /**
     * Seconds before the end of each window; fewer than it has. Also accepted as `seconds_before`.
     */
    secondsBefore: number;
    /**
     * It also moves the request up one level, with a new window.
     */
    escalate?: boolean;
};

export type NewGrantDto = {
    /**
     * Default: the mode of the catalogue at that moment. Also accepted as `hitl_mode`.
     */
    hitlMode?: GrantWord | null;
    /**
     * Seconds to decide. Default 1800. Also accepted as `hitl_timeout_seconds`.
     */
    hitlTimeoutSeconds?: number | null;
    /**
     * What happens when nobody decides in time. Default `reject`. `approve` not where an admin or several people have to approve. Also accepted as `hitl_timeout_action`.
     */
    hitlTimeoutAction?: TimeoutAction | null;
    /**
     * They only tighten the mode, in any order.
     */
    conditions?: Array<ConditionDto> | null;
    /**
     * From then on the grant is none. Default: never. Also accepted as `expires_at`.
     */
    expiresAt?: string | null;
    /**
     * How often, or how much, before another mode applies. Counted from when a limit is set; of a team, for all its agents together.
     */
    limits?: Array<LimitDto> | null;
    /**
     * Several people have to approve. Default: one is enough. 422 where there are not the people to bring it together.
     */
    quorum?: QuorumDto | null;
    /**
     * People are told that a window is about to end. Default: none.
     */
    reminders?: Array<ReminderDto> | null;
    /**
     * Name of the capability, exact and case-sensitive.
     */
    capability: string;
};

export type RegisterAgentDto = {
    /**
     * Shown to reviewers. Need not be unique.
     */
    name: string;
    /**
     * What the agent is for.
     */
    description?: string | null;
    /**
     * Default `limited`. From `high` on, everything the agent does is flagged. Also accepted as `risk_level`.
     */
    riskLevel?: 'minimal' | 'limited' | 'high' | 'unacceptable';
    /**
     * Labels; conditions can read them as `agent.tags`.
     */
    tags?: Array<string>;
    /**
     * An object of your own, kept as it is.
     */
    metadata?: {
        [key: string]: unknown;
    };
    /**
     * Root only: the organization it belongs to. Default: the first one. Also accepted as `organization_id`.
     */
    organizationId?: string;
    /**
     * Granted at once, so that the first token holds them.
     */
    grants?: Array<NewGrantDto>;
    /**
     * Who answers for it: a person of its organization. Also accepted as `owner_id`.
     */
    ownerId?: string | null;
    /**
     * The team it belongs to: its grants are the agent's too. Also accepted as `team_id`.
     */
    teamId?: string | null;
};

export type WarningReply = {
    code: 'ALWAYS_ESCALATES' | 'EXPIRED' | 'MILDER_TWIN' | 'ADMINS_ONLY' | 'NOBODY' | 'ROOT_NEEDED';
    detail: string;
    /**
     * Of the member that causes it.
     */
    pointer: string;
};

export type RegistrationReply = {
    /**
     * Agent token (JWT, HS256). Null in the replay of an Idempotency-Key: it is shown once.
     */
    token: string | null;
    expiresAt: string;
    agent: AgentReply;
    /**
     * What may not be what was meant.
     */
    warnings?: Array<WarningReply>;
};

export type AgentEnvelope = {
    agent: AgentReply;
};

export type UpdateAgentDto = {
    /**
     * Shown to reviewers. Need not be unique.
     */
    name?: string;
    /**
     * What the agent is for.
     */
    description?: string | null;
    /**
     * Labels; conditions can read them as `agent.tags`.
     */
    tags?: Array<string>;
    /**
     * An object of your own, kept as it is.
     */
    metadata?: {
        [key: string]: unknown;
    };
    /**
     * Who answers for it: a person of its organization. Also accepted as `owner_id`.
     */
    ownerId?: string | null;
    /**
     * The team it belongs to: its grants are the agent's too. Also accepted as `team_id`.
     */
    teamId?: string | null;
};

export type RiskLevelDto = {
    /**
     * Takes effect on the very next call. Also accepted as `risk_level`.
     */
    riskLevel: 'minimal' | 'limited' | 'high' | 'unacceptable';
};

export type ReasonDto = {
    /**
     * Why; stands in the audit log.
     */
    reason?: string;
};

export type TokenReply = {
    /**
     * Agent token (JWT, HS256). Null in the replay of an Idempotency-Key: it is shown once.
     */
    token: string | null;
    expiresAt: string;
};

export type RefreshTokenDto = {
    /**
     * After 409 `CAPABILITIES_CHANGED`: its `currentCapabilities`, to acknowledge them.
     */
    capabilities?: Array<string>;
};

export type AgentKeyReply = {
    id: string;
    name: string;
    createdAt: string;
    /**
     * Who made it, and so vouches for what comes by it.
     */
    createdBy: string;
    expiresAt?: string;
};

export type AgentKeyListReply = {
    keys: Array<AgentKeyReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type MakeAgentKeyDto = {
    /**
     * What it is for, so that it can be told from others.
     */
    name: string;
    /**
     * When it ends by itself. Must lie ahead. Default: never. Also accepted as `expires_at`.
     */
    expiresAt?: string | null;
};

export type NewAgentKeyReply = {
    key: AgentKeyReply;
    /**
     * For `Authorization: Bearer`. Null in the replay of an Idempotency-Key: it is shown once.
     */
    secret: string | null;
};

export type GrantToDto = {
    /**
     * Default: the mode of the catalogue at that moment. Also accepted as `hitl_mode`.
     */
    hitlMode?: GrantWord | null;
    /**
     * Seconds to decide. Default 1800. Also accepted as `hitl_timeout_seconds`.
     */
    hitlTimeoutSeconds?: number | null;
    /**
     * What happens when nobody decides in time. Default `reject`. `approve` not where an admin or several people have to approve. Also accepted as `hitl_timeout_action`.
     */
    hitlTimeoutAction?: TimeoutAction | null;
    /**
     * They only tighten the mode, in any order.
     */
    conditions?: Array<ConditionDto> | null;
    /**
     * From then on the grant is none. Default: never. Also accepted as `expires_at`.
     */
    expiresAt?: string | null;
    /**
     * How often, or how much, before another mode applies. Counted from when a limit is set; of a team, for all its agents together.
     */
    limits?: Array<LimitDto> | null;
    /**
     * Several people have to approve. Default: one is enough. 422 where there are not the people to bring it together.
     */
    quorum?: QuorumDto | null;
    /**
     * People are told that a window is about to end. Default: none.
     */
    reminders?: Array<ReminderDto> | null;
    /**
     * Name of the capability, exact and case-sensitive.
     */
    capability: string;
    /**
     * The agent. Either this or `teamId`. Also accepted as `agent_id`.
     */
    agentId?: string;
    /**
     * The team: each of its agents holds the capability, unless it has a grant of its own. Also accepted as `team_id`.
     */
    teamId?: string;
};

export type GrantReply = {
    id: string;
    /**
     * Absent in a grant of a team.
     */
    agentId?: string;
    /**
     * The team whose agents all hold it.
     */
    teamId?: string;
    capability: string;
    /**
     * The word as it was given.
     */
    hitlMode: GrantWord;
    /**
     * What it means for this agent now, conditions and limits aside; for a team, what it means for an agent whose risk is below high.
     */
    effectiveMode: HitlMode;
    grantedAt: string;
    /**
     * The actor.
     */
    grantedBy: string;
    /**
     * Seconds.
     */
    hitl_timeout_seconds: number;
    hitl_timeout_action: TimeoutAction;
    /**
     * Rises with each change.
     */
    version: number;
    expiresAt?: string;
    conditions?: Array<ConditionDto>;
    limits?: Array<LimitDto>;
    /**
     * In lists: how each limit stands now.
     */
    usage?: Array<LimitStateReply>;
    quorum?: QuorumDto;
    reminders?: Array<ReminderDto>;
};

export type WrittenGrantReply = {
    grant: GrantReply;
    /**
     * Of a grant that was there: the members that differ now.
     */
    changed?: Array<string>;
    /**
     * What may not be what was meant.
     */
    warnings?: Array<WarningReply>;
};

export type GrantSettingsDto = {
    /**
     * Default: the mode of the catalogue at that moment. Also accepted as `hitl_mode`.
     */
    hitlMode?: GrantWord | null;
    /**
     * Seconds to decide. Default 1800. Also accepted as `hitl_timeout_seconds`.
     */
    hitlTimeoutSeconds?: number | null;
    /**
     * What happens when nobody decides in time. Default `reject`. `approve` not where an admin or several people have to approve. Also accepted as `hitl_timeout_action`.
     */
    hitlTimeoutAction?: TimeoutAction | null;
    /**
     * They only tighten the mode, in any order.
     */
    conditions?: Array<ConditionDto> | null;
    /**
     * From then on the grant is none. Default: never. Also accepted as `expires_at`.
     */
    expiresAt?: string | null;
    /**
     * How often, or how much, before another mode applies. Counted from when a limit is set; of a team, for all its agents together.
     */
    limits?: Array<LimitDto> | null;
    /**
     * Several people have to approve. Default: one is enough. 422 where there are not the people to bring it together.
     */
    quorum?: QuorumDto | null;
    /**
     * People are told that a window is about to end. Default: none.
     */
    reminders?: Array<ReminderDto> | null;
};

export type GrantListReply = {
    grants: Array<GrantReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type SetupTokenReply = {
    /**
     * Shown once: null in the replay of an Idempotency-Key.
     */
    setupToken: string | null;
    expiresAt: string;
};

export type ActivateNodeDto = {
    /**
     * The setup token.
     */
    token: string;
    /**
     * What the machine is called; stands in the audit log. Also accepted as `node_id`.
     */
    nodeId: string;
};

export type ReportReply = {
    outcome: 'success' | 'failure';
    /**
     * What the work gave: any JSON value.
     */
    output?: unknown;
    /**
     * What went wrong: any JSON value.
     */
    error?: unknown;
    /**
     * Milliseconds.
     */
    durationMs?: number;
    at: string;
};

export type SettlementReply = {
    outcome: 'success' | 'failure';
    /**
     * How that was found out.
     */
    note: string;
    /**
     * A user, or `root`.
     */
    by: string;
    at: string;
};

export type ExecutionReply = {
    id: string;
    agentId: string;
    capability: string;
    action?: string;
    status: 'pending_hitl' | 'running' | 'executed' | 'failed' | 'indeterminate' | 'blocked' | 'cancelled';
    effectiveMode: HitlMode;
    flagged: boolean;
    /**
     * `receipt`: the agent does the work itself and reports. `llm`: a call to a model.
     */
    runtime: 'receipt' | 'connector' | 'webhook' | 'node' | 'llm';
    /**
     * Who does the action: this service, or the caller.
     */
    runs: 'service' | 'caller';
    /**
     * What it was asked with; where it was edited, what ran.
     */
    input: {
        [key: string]: unknown;
    };
    /**
     * As the caller gave it.
     */
    context?: {
        [key: string]: unknown;
    };
    /**
     * A reviewer changed `input` before it ran.
     */
    edit?: EditReply;
    /**
     * Which rules decided, and why.
     */
    reasons: Array<ReasonReply>;
    /**
     * The task that it does.
     */
    taskId?: string;
    /**
     * The agents that a task came through, who acts last.
     */
    chain?: Array<string>;
    hitlRequestId?: string;
    /**
     * Why it was blocked or cancelled.
     */
    reason?: string;
    /**
     * What the runtime answered: any JSON value.
     */
    output?: unknown;
    error?: ErrorReply;
    /**
     * Milliseconds.
     */
    durationMs?: number;
    /**
     * Its closing entry in the audit log.
     */
    auditId?: string;
    /**
     * What the agent said came of it.
     */
    report?: ReportReply;
    /**
     * What a person found out about an indeterminate execution.
     */
    settlement?: SettlementReply;
    createdAt: string;
    startedAt?: string;
    closedAt?: string;
};

export type ExecutionListReply = {
    executions: Array<ExecutionReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type ExecutionEnvelope = {
    execution: ExecutionReply;
};

export type ReportDto = {
    /**
     * What came of it.
     */
    outcome: 'success' | 'failure';
    /**
     * What the work gave: any JSON value.
     */
    output?: unknown;
    /**
     * What went wrong: any JSON value.
     */
    error?: unknown;
    /**
     * Milliseconds. Also accepted as `duration_ms`.
     */
    durationMs?: number;
};

export type SettleDto = {
    /**
     * What became of it.
     */
    outcome: 'success' | 'failure';
    /**
     * How that was found out.
     */
    note: string;
};

export type CapabilityStatsReply = {
    approved: number;
    rejected: number;
    /**
     * Approved ÷ (approved + rejected), by people; null where none.
     */
    approvalRate: number | null;
    /**
     * Of what people decided.
     */
    averageDecisionSeconds: number | null;
    /**
     * Of what people decided.
     */
    p50DecisionSeconds: number | null;
    /**
     * Of what people decided.
     */
    p95DecisionSeconds: number | null;
    capability: string;
    total: number;
};

export type ReviewerStatsReply = {
    approved: number;
    rejected: number;
    /**
     * Approved ÷ (approved + rejected), by people; null where none.
     */
    approvalRate: number | null;
    /**
     * Of what people decided.
     */
    averageDecisionSeconds: number | null;
    /**
     * Of what people decided.
     */
    p50DecisionSeconds: number | null;
    /**
     * Of what people decided.
     */
    p95DecisionSeconds: number | null;
    /**
     * A user, or `root`.
     */
    reviewerId: string;
};

export type HitlStatsReply = {
    approved: number;
    rejected: number;
    /**
     * Approved ÷ (approved + rejected), by people; null where none.
     */
    approvalRate: number | null;
    /**
     * Of what people decided.
     */
    averageDecisionSeconds: number | null;
    /**
     * Of what people decided.
     */
    p50DecisionSeconds: number | null;
    /**
     * Of what people decided.
     */
    p95DecisionSeconds: number | null;
    total: number;
    /**
     * Every status, also those of no request.
     */
    byStatus: {
        [key: string]: number;
    };
    /**
     * The 100 most asked for.
     */
    byCapability: Array<CapabilityStatsReply>;
    /**
     * The 100 who decided most.
     */
    byReviewer: Array<ReviewerStatsReply>;
};

export type QuorumGroupSnakeReply = {
    team_id?: string;
    role?: string;
};

export type QuorumSnakeReply = {
    /**
     * How many distinct people have to approve.
     */
    approvals: number;
    /**
     * Of each at least one.
     */
    groups?: Array<QuorumGroupSnakeReply>;
};

export type ReminderSnakeReply = {
    /**
     * Seconds before the end of each window.
     */
    seconds_before: number;
    /**
     * It also moves the request up one level.
     */
    escalate?: boolean;
};

export type DecidableBySnakeReply = {
    /**
     * Active people who may approve it now, root and break-glass aside. 0: until somebody gets the right, only these can.
     */
    count: number;
    /**
     * The level at which it stands, as `escalationLevel`.
     */
    level: number;
    /**
     * All of them are admins and owners: nobody nearer to the agent can answer.
     */
    admins_only?: boolean;
};

export type RequestExecutionSnakeReply = {
    id: string;
    /**
     * What came of the action; `executed` after it ran.
     */
    status: 'pending_hitl' | 'running' | 'executed' | 'failed' | 'indeterminate' | 'blocked' | 'cancelled';
    /**
     * Why it was cancelled.
     */
    reason?: string;
    /**
     * What the runtime answered: any JSON value.
     */
    output?: unknown;
    error?: ErrorReply;
    /**
     * Milliseconds.
     */
    duration_ms?: number;
};

export type RequestSnakeReply = {
    id: string;
    /**
     * The execution that waits for it; what came of it is at `GET /executions/{id}`, and here once it is approved.
     */
    execution_id: string;
    agent_id: string;
    agent_name: string;
    capability: string;
    action?: string;
    hitl_mode: 'propose' | 'escalate';
    status: 'pending' | 'escalated' | 'approved' | 'rejected' | 'timed_out' | 'cancelled';
    /**
     * Who acts once it is approved: this service, or the caller.
     */
    runs: 'service' | 'caller';
    /**
     * What the agent wants to do: what would run.
     */
    input: {
        [key: string]: unknown;
    };
    /**
     * As the caller gave it.
     */
    context: {
        [key: string]: unknown;
    };
    /**
     * The delegated task that it does.
     */
    task_id?: string;
    /**
     * The agents that the task came through, the first first, and the one that acts last.
     */
    chain?: Array<string>;
    /**
     * For whom the agent says that it acts: a claim of its own.
     */
    on_behalf_of?: string;
    /**
     * SHA-256 of what would run; send it back as `expectedDigest`.
     */
    action_digest: string;
    /**
     * Rises with each edit.
     */
    version: number;
    /**
     * As it was asked, where it was edited since.
     */
    requested_input?: {
        [key: string]: unknown;
    };
    edit?: EditReply;
    /**
     * Several people have to approve.
     */
    quorum?: QuorumSnakeReply;
    /**
     * Who has approved what stands now, where several people have to.
     */
    votes?: Array<VoteReply>;
    /**
     * When people are reminded, before the end of each window.
     */
    reminders?: Array<ReminderSnakeReply>;
    /**
     * The agent's risk is high or above.
     */
    flagged: boolean;
    /**
     * Why a person is asked.
     */
    reasons: Array<ReasonReply>;
    created_at: string;
    expires_at: string;
    /**
     * How it ended.
     */
    decision: DecisionReply | null;
    decided_by: string | null;
    decided_at: string | null;
    /**
     * It was approved though separation of duties or a quorum barred it.
     */
    break_glass?: boolean;
    /**
     * 0: the owner of the agent (or of a delegated task) and its team, 1: leads of that team, 2: admins of the organization.
     */
    escalation_level: number;
    /**
     * Of an open request, where one is read, handed on, or listed as somebody's queue: who can answer it now.
     */
    decidable_by?: DecidableBySnakeReply;
    escalated_to: string | null;
    escalated_at?: string;
    escalation_reason?: string;
    execution?: RequestExecutionSnakeReply;
};

export type RequestListReply = {
    /**
     * In camelCase unless `?form=snake`.
     */
    requests: Array<HitlRequest>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type ExpiryReply = {
    checked: number;
    timedOut: number;
    approved: number;
    escalated: number;
    /**
     * Too much for one call: ask again, or leave the rest to the service.
     */
    more?: boolean;
};

export type BatchItemDto = {
    /**
     * The request.
     */
    id: string;
    /**
     * The digest of the action that you were shown. Without it this item is not decided. Also accepted as `expected_digest`.
     */
    expectedDigest?: string;
};

export type BatchDto = {
    /**
     * What to decide.
     */
    items: Array<BatchItemDto>;
    /**
     * The same for all of them.
     */
    decision: 'approve' | 'reject';
    /**
     * Kept with each decision. Also accepted as `comment`, `reason`.
     */
    note?: string | null;
};

export type RequestSummaryReply = {
    id: string;
    status: 'pending' | 'escalated' | 'approved' | 'rejected' | 'timed_out' | 'cancelled';
    /**
     * A user, or `root`; `system` where time decided.
     */
    decidedBy: string | null;
    decidedAt: string | null;
};

export type BatchErrorReply = {
    code: string;
    title: string;
    detail: string;
    /**
     * What stands.
     */
    request?: RequestSummaryReply;
};

export type BatchResultReply = {
    id: string;
    /**
     * The status that this decision would have had alone.
     */
    status: number;
    /**
     * In camelCase unless `?form=snake`.
     */
    request?: HitlRequest;
    error?: BatchErrorReply;
};

export type BatchReply = {
    /**
     * In the order of the items.
     */
    results: Array<BatchResultReply>;
};

export type ApprovalDto = {
    /**
     * Kept with the decision. Also accepted as `comment`, `reason`.
     */
    note?: string | null;
    /**
     * The digest of the action that you were shown: another one is refused. Also accepted as `expected_digest`.
     */
    expectedDigest?: string;
    /**
     * What shall run instead. It passes the gate again and has a new digest; where an admin, several people or another person have to approve, it decides nothing yet. Also accepted as `edited_input`.
     */
    editedInput?: {
        [key: string]: unknown;
    };
    /**
     * An owner whom separation of duties or a quorum bars (a quorum: root too) decides nevertheless, with a note of 10 characters or more. Admins are told. Also accepted as `break_glass`.
     */
    breakGlass?: boolean;
};

export type DecidedRequestEnvelope = {
    /**
     * In camelCase unless `?form=snake`.
     */
    request: HitlRequest;
};

export type DecisionDto = {
    /**
     * Kept with the decision. Also accepted as `comment`, `reason`.
     */
    note?: string | null;
    /**
     * The digest of the action that you were shown: another one is refused. Also accepted as `expected_digest`.
     */
    expectedDigest?: string;
};

export type EscalationDto = {
    /**
     * Why it goes to the next level: kept with the request and in the log.
     */
    reason: string;
    /**
     * A user who may decide there; else it goes to that level's queue. Also accepted as `escalate_to`.
     */
    escalateTo?: string | null;
    /**
     * The digest of the action that you were shown: another one is refused. Also accepted as `expected_digest`.
     */
    expectedDigest?: string;
};

export type TimeoutReply = {
    /**
     * In camelCase unless `?form=snake`.
     */
    request: HitlRequest;
    /**
     * As it was applied.
     */
    action: TimeoutAction;
};

export type TransferDto = {
    /**
     * Where the agent goes. Also accepted as `organization_id`.
     */
    organizationId: string;
    /**
     * Why; stands in the audit logs of both organizations.
     */
    reason?: string;
};

export type StopReply = {
    id: string;
    scope: 'agent' | 'organization' | 'all';
    /**
     * The agent or the organization that is stopped.
     */
    targetId?: string;
    /**
     * Not there for `all`.
     */
    organizationId?: string;
    reason: string;
    /**
     * A user's id, or `root`.
     */
    madeBy: string;
    madeAt: string;
    liftedBy?: string;
    /**
     * Not there while it is in force.
     */
    liftedAt?: string;
};

export type StopListReply = {
    stops: Array<StopReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type MakeStopDto = {
    /**
     * What is stopped. `all` is root's.
     */
    scope: 'agent' | 'organization' | 'all';
    /**
     * The agent (`agt_…`, required with `agent`), or the organization (`org_…`; without it your own). Not with `all`.
     */
    id?: string;
    /**
     * Why; stands in the audit log.
     */
    reason: string;
};

export type StopEnvelope = {
    stop: StopReply;
};

export type KeysReply = {
    /**
     * C2SP verifier keys; the one that signs comes first, then retired ones.
     */
    keys: Array<string>;
};

export type CheckpointReply = {
    origin: string;
    size: number;
    /**
     * C2SP signed note.
     */
    note: string;
};

export type CheckpointListReply = {
    checkpoints: Array<CheckpointReply>;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type TreePathReply = {
    level: 'organization' | 'platform';
    /**
     * Place of the leaf, from 0.
     */
    index: number;
    /**
     * Leaves of the tree: those of its checkpoint.
     */
    size: number;
    /**
     * Base64, from the leaf upwards.
     */
    hashes: Array<string>;
};

export type MapPathReply = {
    level: 'map';
    /**
     * Pairs of depth and hash (base64): what stands beside the path and is not empty, from the root downwards.
     */
    siblings: Array<[
        number,
        string
    ]>;
    /**
     * When the map was taken; a part of the platform's leaf.
     */
    timestamp: string;
};

export type DisclosureReply = {
    /**
     * The commitment, as the payload has it.
     */
    d: string;
    /**
     * RFC 6901, from the payload's root.
     */
    pointer: string;
    /**
     * base64url of 16 bytes.
     */
    salt: string;
    /**
     * The canonical text of the value; absent once it is erased.
     */
    value?: string;
    /**
     * The value was erased.
     */
    erased?: boolean;
};

export type CheckpointPairReply = {
    /**
     * The signed note of the organization's tree.
     */
    organization: string;
    /**
     * The signed note of the platform's tree.
     */
    platform: string;
};

export type ProofReply = {
    agentId?: string;
    capability?: string;
    /**
     * The stored text, over which the hash was made.
     */
    payload: string;
    /**
     * Absent from the first entry of a chain.
     */
    prevHash?: string;
    /**
     * SHA-256, hex.
     */
    hash: string;
    chain: string;
    seq: number;
    /**
     * What opens the commitments in the payload.
     */
    disclosures: Array<DisclosureReply>;
    /**
     * From the entry to its organization's root, through the map of organizations, to the platform's root.
     */
    inclusion: Array<InclusionPath>;
    checkpoint: CheckpointPairReply;
};

export type ErasureCountsReply = {
    /**
     * Committed values of the log that are blank now.
     */
    values: number;
    /**
     * Of these, those that a text was met in, and that are not the erased user's own.
     */
    byText: number;
    /**
     * Entries that lost a value.
     */
    entries: number;
    /**
     * Entries that could not be read; verification names them.
     */
    unreadable: number;
    /**
     * Rows elsewhere, by what they are.
     */
    rows: {
        [key: string]: number;
    };
    /**
     * Rows that still hold some of it: conditions and the like until somebody changes them, actions until they have ended; and `keptProfiles` and `keptIdentities`, names and addresses of other accounts, and by what the identity provider knows them, which are theirs and stay.
     */
    left: {
        [key: string]: number;
    };
};

export type ErasureProgressReply = {
    /**
     * What the search is at.
     */
    phase: 'subjects' | 'log' | 'rows' | 'archive' | 'check';
    /**
     * It goes over what has come meanwhile in a further round.
     */
    round: number;
};

export type ErasureReply = {
    id: string;
    organizationId: string;
    /**
     * What it was asked for: never the values themselves.
     */
    kind: 'user' | 'values';
    state: 'unconfirmed' | 'running' | 'done' | 'declined';
    userId?: string;
    reason?: string;
    /**
     * A user's id, or `root`.
     */
    askedBy: string;
    askedAt: string;
    /**
     * Never who has asked for it.
     */
    confirmedBy?: string;
    /**
     * So far, or in all.
     */
    counts: ErasureCountsReply;
    /**
     * While it runs.
     */
    progress?: ErasureProgressReply;
    endedAt?: string;
};

export type ErasureListReply = {
    erasures: Array<ErasureReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type AskErasureDto = {
    /**
     * Names, addresses, whatever names the person. Found as whole words, whatever their case; in names of members too.
     */
    values: Array<string>;
    /**
     * Why; stands in the audit log, and is itself searched for the values.
     */
    reason: string;
    /**
     * Only count what would be erased. Also accepted as `dry_run`.
     */
    dryRun?: boolean;
    /**
     * One of those that you reach; for root also `org_platform`, the platform's own log. Default: your own. Also accepted as `organization_id`.
     */
    organizationId?: string;
};

export type FoundCountsReply = {
    values: number;
    entries: number;
    /**
     * Entries of decisions among them.
     */
    decisions: number;
    /**
     * Whether the whole log was looked through; where not, there may be more.
     */
    complete: boolean;
};

export type FoundReply = {
    organizationId: string;
    /**
     * What the log held of the values before anything was erased.
     */
    found: FoundCountsReply;
    /**
     * Not with `dryRun`.
     */
    erasure?: ErasureReply;
};

export type ErasureEnvelope = {
    erasure: ErasureReply;
};

export type ErasedUserReply = {
    userId: string;
    erasedAt: string;
    /**
     * 1 when this call blanked the profile.
     */
    profile: number;
    /**
     * Sessions that this call ended.
     */
    sessions: number;
    /**
     * Personal keys that the account had; none lets anybody in.
     */
    keys: number;
    /**
     * Entries of the log that lost a value, so far.
     */
    auditEntries: number;
    /**
     * HITL requests that lost something, so far.
     */
    requests: number;
    /**
     * Messages that lost something, so far.
     */
    notifications: number;
    /**
     * The account at the identity provider. `left_to_do`: not yet, or not by this service; repeating the call tries again.
     */
    identityProvider: 'deleted' | 'left_to_do' | 'none';
    /**
     * The searches that this call began, as far as they have come.
     */
    erasures: Array<ErasureReply>;
};

export type AuditEntryReply = {
    id: string;
    event: string;
    agentId?: string;
    /**
     * User id, agent id, root, internal, system or anonymous.
     */
    actorId: string;
    organizationId: string;
    capability?: string;
    outcome?: 'success' | 'failure' | 'blocked' | 'executed';
    /**
     * Its members are those of the event (docs/events.md). What an erasure took reads `[erased]`.
     */
    metadata: {
        [key: string]: unknown;
    };
    /**
     * Through which door it came: `via`, `requestId`, `traceId`, `address`.
     */
    origin?: {
        [key: string]: unknown;
    };
    /**
     * The chain it stands in: an agent id, or sys_ and an organization id.
     */
    chain: string;
    /**
     * Its position in the chain, from 1.
     */
    seq: number;
    /**
     * SHA-256, hex.
     */
    hash: string;
    /**
     * Hash of the entry before it.
     */
    prevHash?: string;
    timestamp: string;
};

export type AuditListReply = {
    entries: Array<AuditEntryReply>;
    /**
     * Exact up to 10,000, a floor above.
     */
    total: number;
    /**
     * Stands, as false, where `total` is a floor.
     */
    totalIsExact?: boolean;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type AnchoredReply = {
    name: string;
    /**
     * Of the newest checkpoint that it has.
     */
    size: number;
};

export type VerifiedCheckpointReply = {
    origin: string;
    size: number;
    /**
     * Base64.
     */
    root: string;
    madeAt: string;
    /**
     * C2SP signed note.
     */
    note: string;
    /**
     * Whom it was compared with, outside of the database.
     */
    anchors: Array<AnchoredReply>;
};

export type NotComparedReply = {
    name: string;
    /**
     * `no_answer`: could not be asked; `nothing_kept`: has nothing of this log; `shown_nothing`: answers only to a checkpoint that it is shown, and there is none yet; `other_history`: told a size that is none of this log.
     */
    because: 'no_answer' | 'nothing_kept' | 'shown_nothing' | 'other_history';
};

export type BreakReply = {
    chain: string;
    position: number;
    /**
     * Null where the entry is gone.
     */
    entryId: string | null;
    kind: 'edited' | 'deleted' | 'inserted' | 'reordered' | 'truncated' | 'chain_removed' | 'forked' | 'column_mismatch' | 'unauthorised_erasure' | 'checkpoint_invalid' | 'archive_altered' | 'tree_mismatch' | 'incomplete' | 'gate_wrong';
    /**
     * What is wrong, for people.
     */
    detail: string;
};

export type CompletenessReply = {
    /**
     * Executions, requests, grants, erasures, reports and settlements that entries tell of.
     */
    checked: number;
    /**
     * Rows whose entries a sweep has archived.
     */
    swept?: number;
    breaks: number;
};

export type ReplayReply = {
    right: number;
    wrong: number;
    /**
     * Of which not enough is left to decide them again: `erased`, `swept`, or `limits`, whose counts the log does not keep.
     */
    notReplayable: {
        [key: string]: number;
    };
};

export type VerificationReply = {
    /**
     * False only when something was tampered with.
     */
    valid: boolean;
    verdict: 'valid' | 'valid_unanchored' | 'tampered';
    chains: number;
    entries: number;
    /**
     * Entries that no checkpoint covers yet.
     */
    uncovered: number;
    /**
     * The newest checkpoint that the log was compared with.
     */
    checkpoint: VerifiedCheckpointReply | null;
    /**
     * Anchors that say nothing of this log, and why.
     */
    anchorsNotCompared: Array<NotComparedReply>;
    /**
     * The first 1,000.
     */
    breaks: Array<BreakReply>;
    /**
     * How many there are, where not all are listed.
     */
    breaksFound?: number;
    /**
     * Whether executions, requests, grants and erasures agree with their entries, both ways.
     */
    completeness: CompletenessReply;
    /**
     * What the gate decided, decided anew from entries alone.
     */
    replay: ReplayReply;
    durationMs: number;
};

export type TenantReply = {
    id: string;
    name: string;
    tier: 'personal' | 'teams' | 'enterprise';
    /**
     * Whether the subscription is paid; if not, the limits of `personal` hold.
     */
    active: boolean;
    status: 'active' | 'deleted';
    /**
     * The organization of new people whose provider names the tenant alone.
     */
    firstOrganizationId: string | null;
    createdAt: string;
    updatedAt: string;
};

export type TenantListReply = {
    tenants: Array<TenantReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type MakeTenantDto = {
    /**
     * Shown to people; its first organization is called the same.
     */
    name: string;
    /**
     * What it has subscribed to. Default `personal`.
     */
    tier?: 'personal' | 'teams' | 'enterprise';
};

export type TenantEnvelope = {
    tenant: TenantReply;
};

export type UpdateTenantDto = {
    /**
     * Shown to people. Its organizations keep their names.
     */
    name?: string;
};

export type SubscriptionDto = {
    /**
     * From the answer on, nothing new comes over its limits; what is there stays.
     */
    tier: 'personal' | 'teams' | 'enterprise';
    /**
     * Whether it is paid. Without an active subscription the limits of `personal` hold.
     */
    active: boolean;
};

export type UsageReply = {
    /**
     * Open accounts now.
     */
    users: number;
    /**
     * Agents now, but for removed ones.
     */
    agents: number;
    organizations: number;
    teams: number;
    /**
     * Executions that were asked for in that time.
     */
    executions: number;
    from: string;
    to: string;
};

export type UsageEnvelope = {
    usage: UsageReply;
};

export type VerifyTokenDto = {
    /**
     * A JWT of the identity provider, without `Bearer`.
     */
    token: string;
};

export type VerifiedClaims = {
    /**
     * The provider’s id of the user.
     */
    sub: string;
    /**
     * Null: nobody here knows this user yet.
     */
    user_id: string | null;
    email?: string;
    /**
     * The account’s tenant; its organization where that belongs to none.
     */
    tenant_id: string | null;
    /**
     * What counts now; `personal` without an active subscription.
     */
    tier: 'personal' | 'teams' | 'enterprise' | null;
    /**
     * The lower of the record’s and the claimed one.
     */
    role: 'viewer' | 'member' | 'admin' | 'owner' | null;
    /**
     * As the provider says.
     */
    has_subscription?: boolean;
    /**
     * As the provider says.
     */
    managed?: boolean;
    iat?: number;
    exp: number;
};

export type VerifyTokenReply = {
    claims: VerifiedClaims;
};

export type RecipientReply = {
    userId?: string;
    teamId?: string;
    role?: string;
};

export type ChannelReply = {
    channel: 'email' | 'slack' | 'teams' | 'webhook' | 'in_app';
    enabled: boolean;
    /**
     * Secrets read `********`; of an address the origin is shown.
     */
    settings: {
        [key: string]: string;
    };
    recipients: Array<RecipientReply>;
    /**
     * Null: all of them.
     */
    events: Array<'hitl.request.created' | 'hitl.request.escalated' | 'hitl.request.reminder' | 'hitl.request.approved' | 'hitl.request.rejected' | 'hitl.request.timed_out' | 'hitl.request.cancelled' | 'execution.notified' | 'execution.indeterminate'> | null;
    /**
     * What the API sets replaces the environment.
     */
    source: 'api' | 'environment';
    /**
     * Why it is off: what its receiver answered (`HTTP_410`), or `UNREADABLE` where its settings do not open.
     */
    offBecause?: string;
};

export type ChannelEnvelope = {
    config: ChannelReply;
};

export type ChannelSettingsDto = {
    /**
     * Of slack, teams: address of the incoming webhook. Left out: kept; null takes it away. Also accepted as `webhook_url`.
     */
    webhookUrl?: string | null;
    /**
     * Of slack: a bot's token; it counts where there is a webhookUrl too. Left out: kept; null takes it away. Also accepted as `bot_token`.
     */
    botToken?: string | null;
    /**
     * Of slack: id of the channel that the bot posts to. Left out: kept; null takes it away.
     */
    channel?: string | null;
    /**
     * Of slack: verifies calls of its buttons; without it they are links. Left out: kept; null takes it away. Also accepted as `signing_secret`.
     */
    signingSecret?: string | null;
    /**
     * Of webhook: where events are posted. Left out: kept; null takes it away.
     */
    url?: string | null;
    /**
     * Of webhook: signs what is posted (Standard Webhooks). The former one signs along for a day. Left out: kept; null takes it away.
     */
    secret?: string | null;
};

export type RecipientDto = {
    /**
     * A person of the organization. Also accepted as `user_id`.
     */
    userId?: string;
    /**
     * Everybody in a team of the organization. Also accepted as `team_id`.
     */
    teamId?: string;
    /**
     * Everybody with this role.
     */
    role?: 'viewer' | 'member' | 'admin' | 'owner';
};

export type ChannelDto = {
    /**
     * Whether it is on. `in_app` always is.
     */
    enabled: boolean;
    /**
     * Those of the channel. Secrets are never shown again.
     */
    settings?: ChannelSettingsDto;
    /**
     * Who is notified besides those whom an event concerns; left out, nobody. Each is a `userId`, a `teamId` or a `role`.
     */
    recipients?: Array<RecipientDto>;
    /**
     * Events that the channel notifies of; left out or null, all of them.
     */
    events?: Array<string> | null;
};

export type ChannelTestReply = {
    /**
     * `retry`: it may work later. `gone`: nobody wants it there.
     */
    outcome: 'delivered' | 'retry' | 'dead' | 'gone';
    /**
     * What went wrong, by a code.
     */
    code?: string;
};

export type DeliveryReply = {
    /**
     * Also the `webhook-id`, the same at each attempt.
     */
    id: string;
    organizationId: string;
    event: 'hitl.request.created' | 'hitl.request.escalated' | 'hitl.request.reminder' | 'hitl.request.approved' | 'hitl.request.rejected' | 'hitl.request.timed_out' | 'hitl.request.cancelled' | 'execution.notified' | 'execution.indeterminate';
    channel: 'email' | 'slack' | 'teams' | 'webhook';
    /**
     * Of a mail: whom it is for.
     */
    userId?: string;
    priority: 'normal' | 'high';
    hitlRequestId?: string;
    executionId?: string;
    state: 'waiting' | 'delivered' | 'superseded' | 'dead';
    attempts: number;
    /**
     * What came of the last attempt, where it failed.
     */
    code?: string;
    occurredAt: string;
    /**
     * Of one that waits: when it is tried next.
     */
    nextAttemptAt?: string;
    endedAt?: string;
};

export type DeliveryListReply = {
    deliveries: Array<DeliveryReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type DeliveryEnvelope = {
    delivery: DeliveryReply;
};

export type ChatAccountReply = {
    id: string;
    chat: 'slack';
    /**
     * The workspace's id in the chat.
     */
    workspace: string;
    /**
     * The person's id in the chat.
     */
    chatUser: string;
    createdAt: string;
};

export type ChatAccountListReply = {
    chatAccounts: Array<ChatAccountReply>;
    total: number;
};

export type NotificationReply = {
    id: string;
    organizationId: string;
    event: 'hitl.request.created' | 'hitl.request.escalated' | 'hitl.request.reminder' | 'hitl.request.approved' | 'hitl.request.rejected' | 'hitl.request.timed_out' | 'hitl.request.cancelled' | 'execution.notified' | 'execution.indeterminate' | 'channel.switched_off';
    priority: 'normal' | 'high';
    hitlRequestId?: string;
    executionId?: string;
    /**
     * Of `channel.switched_off`: its receiver answered 410.
     */
    channel?: 'email' | 'slack' | 'teams' | 'webhook';
    agentId?: string;
    agentName?: string;
    capability?: string;
    /**
     * Of the request or execution, as it is now.
     */
    status?: string;
    /**
     * Until when the request can be decided.
     */
    expiresAt?: string;
    /**
     * The page on which it can be decided.
     */
    url?: string;
    createdAt: string;
    readAt: string | null;
};

export type InboxReply = {
    notifications: Array<NotificationReply>;
    total: number;
    /**
     * How many are unread, on whatever page.
     */
    unread: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type ReadReply = {
    id: string;
    readAt: string;
};

export type HeartbeatDto = {
    /**
     * How busy the node is: 0 is idle, 1 takes no more.
     */
    load?: number;
    /**
     * Of the program that the node runs.
     */
    version?: string;
};

export type HeartbeatReply = {
    agentId: string;
    nodeLastSeen: string;
    /**
     * Executions whose work nodes of the agent had taken, and which do not want it any more: stop, or do not begin.
     */
    cancelled: Array<string>;
};

export type LeasedWork = {
    /**
     * Of the execution.
     */
    id: string;
    capability: string;
    /**
     * Number of the lease, as its answer said it.
     */
    fence: number;
    /**
     * Until then its result is waited for.
     */
    deadline: string;
    /**
     * Until then it has to be started; then somebody else can lease it.
     */
    leaseUntil: string;
};

export type LeaseReply = {
    task: LeasedWork;
};

export type StartWorkDto = {
    /**
     * Number of the lease, as its answer said it.
     */
    fence: number;
};

export type StartedWorkReply = {
    /**
     * Of the execution.
     */
    id: string;
    capability: string;
    /**
     * Number of the lease, as its answer said it.
     */
    fence: number;
    /**
     * Until then its result is waited for.
     */
    deadline: string;
    /**
     * Name of the action, as the agent gave it.
     */
    action?: string;
    /**
     * What it is done with: what was approved.
     */
    input: {
        [key: string]: unknown;
    };
    /**
     * As the agent gave it.
     */
    context?: {
        [key: string]: unknown;
    };
    /**
     * For receivers that do nothing twice under one key.
     */
    idempotencyKey: string;
    /**
     * W3C trace context of the call.
     */
    traceparent?: string;
};

export type StartReply = {
    task: StartedWorkReply;
};

export type WorkErrorDto = {
    /**
     * A code of the node's own. Default `NODE_ERROR`.
     */
    code?: string;
    /**
     * What went wrong, for people.
     */
    message: string;
};

export type WorkResultDto = {
    /**
     * Number of the lease, as its answer said it.
     */
    fence: number;
    /**
     * `indeterminate`: the node does not know whether it was done.
     */
    status: 'executed' | 'failed' | 'indeterminate';
    /**
     * What it gave: any JSON value. Not with `indeterminate`.
     */
    output?: unknown;
    /**
     * What went wrong. Required unless it was `executed`.
     */
    error?: WorkErrorDto;
};

export type ResultReply = {
    id: string;
    /**
     * The execution had its end already: the result stands beside it in the log, and changes nothing.
     */
    late: boolean;
};

export type VendorErrorReply = {
    /**
     * In Anthropic's format.
     */
    type?: 'error';
    /**
     * What the problem would say: `code` is this service's, null where the provider refused; `type` the vendor's word for it.
     */
    error: {
        message: string;
        type: string;
        code?: string | null;
        [key: string]: unknown;
    };
    /**
     * In Anthropic's format.
     */
    request_id?: string;
};

export type CompletionDto = {
    /**
     * Name of the model.
     */
    model: string;
    /**
     * The conversation: any JSON value that the format of the provider has.
     */
    messages: unknown;
};

export type ModelReply = {
    id: string;
    object: 'model';
    type: 'model';
    /**
     * Unix seconds.
     */
    created: number;
    created_at: string;
    /**
     * The provider, as this installation calls it.
     */
    owned_by: string;
    display_name: string;
};

export type ModelListReply = {
    object: 'list';
    data: Array<ModelReply>;
    has_more: boolean;
    first_id: string | null;
    last_id: string | null;
};

export type ChatMessageDto = {
    /**
     * `system`, `user` or `assistant`.
     */
    role: string;
    /**
     * What is said.
     */
    content: string;
};

export type ChatDto = {
    /**
     * Name of the model.
     */
    model: string;
    /**
     * The conversation.
     */
    messages: Array<ChatMessageDto>;
    /**
     * For root: in whose log the call stands. An agent calls for itself. Also accepted as `agent_id`.
     */
    agentId?: string;
    /**
     * Default true. `false` sends the text as it is, where the organization allows that. Also accepted as `scan_pii`.
     */
    scanPii?: boolean;
    /**
     * The most tokens that the answer may have. Also accepted as `max_tokens`.
     */
    maxTokens?: number;
};

export type ChatUsage = {
    promptTokens: number;
    completionTokens: number;
};

export type ChatReply = {
    /**
     * What the model said.
     */
    content: string;
    model: string;
    usage: ChatUsage;
    /**
     * Personal data was found in what was sent here.
     */
    piiDetected: boolean;
    /**
     * The provider did not get it.
     */
    piiRedacted: boolean;
};

export type ScanDto = {
    /**
     * What is to be scanned.
     */
    text: string;
};

export type FoundEntityReply = {
    type: string;
    /**
     * As it stands in the text.
     */
    value: string;
    /**
     * What would stand in its place.
     */
    redacted: string;
};

export type ScanReply = {
    detected: boolean;
    entities: Array<FoundEntityReply>;
    redactedText: string;
};

export type ModelUsageReply = {
    /**
     * Of the call, in UTC.
     */
    day: string;
    agentId: string;
    /**
     * As the call named it; empty where the record is blanked.
     */
    model: string;
    calls: number;
    /**
     * Of these, the ones without a whole answer.
     */
    failed: number;
    promptTokens: number;
    completionTokens: number;
};

export type LlmUsageReply = {
    from: string;
    to: string;
    usage: Array<ModelUsageReply>;
};

export type ResolveDto = {
    /**
     * What the agent has to be able to do. Either this or `capabilities`.
     */
    capability?: string;
    /**
     * The same, where it is several.
     */
    capabilities?: Array<string>;
    /**
     * For people who read the routing log.
     */
    description?: string | null;
    /**
     * The agent has at least one of these tags; more of them score higher.
     */
    tags?: Array<string>;
    /**
     * Only agents of this team. Also accepted as `team_id`.
     */
    teamId?: string;
    /**
     * Ids of agents that are not to be found.
     */
    exclude?: Array<string>;
    /**
     * One of the organizations that the caller reaches. Default: the own one. Also accepted as `organization_id`.
     */
    organizationId?: string;
};

export type FactorsReply = {
    /**
     * 1 for a node that is seen now, half after a minute; 0 without a node. Counts 0.3.
     */
    freshness: number;
    /**
     * 1 without open tasks and requests, half with one. Counts 0.25.
     */
    load: number;
    /**
     * Share of its last executions that were executed, as gathered within the last minute; half where there are none. Counts 0.25.
     */
    success: number;
    /**
     * Share of the wanted tags that it has. Counts 0.1.
     */
    tags: number;
    /**
     * 1 at risk minimal, 0.7 limited, 0.3 high, 0 unacceptable. Counts 0.1.
     */
    risk: number;
};

export type RoutingCandidateReply = {
    agentId: string;
    /**
     * Sum of the weighted factors, 1 at most. Absent for the rejected.
     */
    score?: number;
    /**
     * What the score is made of.
     */
    factors?: FactorsReply;
    /**
     * Why it is not eligible.
     */
    rejectedBecause?: 'out_of_service' | 'stopped' | 'not_granted' | 'blocked' | 'other_team' | 'no_tag' | 'excluded' | 'in_chain' | 'no_fresh_node';
};

export type RoutingDecisionReply = {
    id: string;
    organizationId: string;
    /**
     * What the agent had to be able to do.
     */
    capabilities: Array<string>;
    description?: string;
    /**
     * The tags that were wanted.
     */
    tags?: Array<string>;
    teamId?: string;
    /**
     * Who was not to be found.
     */
    exclude?: Array<string>;
    /**
     * Absent where nobody was eligible.
     */
    agentId?: string;
    agentName?: string;
    score?: number;
    /**
     * The 20 best, best first, then 20 of the rejected. An agent is shown the one that was found alone.
     */
    candidates: Array<RoutingCandidateReply>;
    createdAt: string;
};

export type RoutingDecisionEnvelope = {
    decision: RoutingDecisionReply;
};

export type NewTaskDto = {
    /**
     * What is to be done.
     */
    capability: string;
    /**
     * What it is to be done with. Also accepted as `payload`.
     */
    input?: {
        [key: string]: unknown;
    };
    /**
     * For whoever does it, and for people.
     */
    description?: string | null;
    /**
     * The open task of the delegating agent that this is a part of. An equal one is meant where it is left out. Also accepted as `parent_id`, `taskId`, `task_id`.
     */
    parentId?: string;
};

export type DelegateDto = {
    /**
     * The task.
     */
    task: NewTaskDto;
    /**
     * Who is to do it. Left out: the best agent, as `resolve` finds it. Also accepted as `to_agent_id`.
     */
    toAgentId?: string;
    /**
     * For root: in whose name. An agent delegates in its own, a person in theirs. Also accepted as `from_agent_id`.
     */
    fromAgentId?: string;
    /**
     * Of a person, or root: one of the organizations that they reach. Default: the own one. Also accepted as `organization_id`.
     */
    organizationId?: string;
};

export type TaskReply = {
    id: string;
    organizationId: string;
    /**
     * The task within which it was delegated.
     */
    parentId?: string;
    capability: string;
    /**
     * What it is to be done with.
     */
    input: {
        [key: string]: unknown;
    };
    description?: string;
    /**
     * Absent where a person gave it.
     */
    fromAgentId?: string;
    /**
     * Who does it, by `POST /execute` with `context.task_id`.
     */
    toAgentId: string;
    /**
     * The agents that it came through, the first first, and who does it last.
     */
    chain: Array<string>;
    /**
     * Who gave it: a user, an agent, or `root`.
     */
    delegatedBy: string;
    /**
     * `running` from its execution on, also while that waits for a person.
     */
    status: 'assigned' | 'running' | 'done' | 'failed' | 'cancelled';
    /**
     * The execution that does it, or did.
     */
    executionId?: string;
    /**
     * Why it was cancelled: a code.
     */
    reason?: string;
    /**
     * The routing decision that found its agent.
     */
    decisionId?: string;
    createdAt: string;
    /**
     * Of a task that was cancelled.
     */
    endedAt?: string;
};

export type DelegationReply = {
    task: TaskReply;
    /**
     * Where the agent was looked for.
     */
    decision?: RoutingDecisionReply;
};

export type RoutingLogReply = {
    /**
     * Newest first.
     */
    decisions: Array<RoutingDecisionReply>;
    /**
     * Of the log, which holds the last 200.
     */
    total: number;
};

export type TaskListReply = {
    tasks: Array<TaskReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type TaskEnvelope = {
    task: TaskReply;
};

export type UserReply = {
    id: string;
    email: string | null;
    name: string | null;
    avatarUrl: string | null;
    role: 'viewer' | 'member' | 'admin' | 'owner';
    organizationId: string;
    status: 'active' | 'deleted' | 'erased';
    createdAt: string;
};

export type OwnCredentialReply = {
    id: string;
    /**
     * By what it came in.
     */
    credential: 'token' | 'key';
    /**
     * The agent key that was shown, or exchanged for the token.
     */
    keyId?: string;
    /**
     * When the credential ends. Absent: it has no end.
     */
    expiresAt?: string;
    /**
     * What the token names. A key names none: the grants decide.
     */
    capabilities?: Array<string>;
};

export type HomeReply = {
    id: string;
    name: string;
};

export type SubscriptionReply = {
    id: string;
    /**
     * As it counts now: without an active subscription the least.
     */
    tier: 'personal' | 'teams' | 'enterprise';
};

export type KnownSession = {
    id: string;
    /**
     * How its person came in.
     */
    method: 'provider' | 'passkey' | 'password';
    createdAt: string;
    /**
     * When it ends in any case; without use it ends earlier.
     */
    expiresAt: string;
};

export type WhoAmIReply = {
    /**
     * Whom the credential names. `root` and `internal` are nobody's account.
     */
    principal: 'root' | 'user' | 'agent' | 'internal';
    /**
     * What the caller may do, by the keys of `docs/permissions.md`. What is not named is denied.
     */
    permissions: {
        [key: string]: 'all' | 'own';
    };
    /**
     * Of a person: the account, with the role of its record.
     */
    user?: UserReply;
    /**
     * Of a person: the role that counts, no more than the identity provider says.
     */
    role?: 'viewer' | 'member' | 'admin' | 'owner';
    /**
     * Of an agent.
     */
    agent?: OwnCredentialReply;
    /**
     * Of a person or an agent.
     */
    organization?: HomeReply;
    /**
     * Where the organization belongs to a tenant.
     */
    tenant?: SubscriptionReply;
    /**
     * Of who came in by one.
     */
    session?: KnownSession;
};

export type SessionReply = {
    id: string;
    /**
     * How its person came in.
     */
    method: 'provider' | 'passkey' | 'password';
    createdAt: string;
    /**
     * When it ends in any case; without use it ends earlier.
     */
    expiresAt: string;
    /**
     * To about a minute.
     */
    lastUsedAt: string;
    /**
     * What the browser called itself.
     */
    userAgent: string | null;
    /**
     * Where it came from when it began.
     */
    address: string | null;
    /**
     * Whether it is the one that asks.
     */
    current: boolean;
};

export type SessionListReply = {
    sessions: Array<SessionReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type SignedOutReply = {
    /**
     * Where the browser ends the session at the identity provider too. Null where there is no such page, or no provider.
     */
    endSessionUrl: string | null;
};

export type ChangePasswordDto = {
    /**
     * From 12 to 256 characters; none that many people choose, nor one that names you.
     */
    password: string;
    /**
     * The present one. Needed unless the session is at most ten minutes old.
     */
    current?: string;
};

/**
 * For the browser as it stands (WebAuthn Level 3, JSON form).
 */
export type PasskeyOptionsReply = {
    /**
     * Single use, for this browser, five minutes.
     */
    challenge: string;
    [key: string]: unknown;
};

export type PasskeySignInDto = {
    /**
     * What the browser answered (WebAuthn Level 3, JSON form).
     */
    response: {
        [key: string]: unknown;
    };
    /**
     * A path of this service to go on to. Also accepted as `return_to`.
     */
    returnTo?: string | null;
};

export type PasskeySignInReply = {
    user: UserReply;
    /**
     * The path to go on to.
     */
    returnTo: string;
};

export type PasskeyReply = {
    id: string;
    name: string;
    /**
     * Whether it is copied to other devices of its owner.
     */
    backedUp: boolean;
    createdAt: string;
    lastUsedAt: string | null;
};

export type PasskeyListReply = {
    passkeys: Array<PasskeyReply>;
    total: number;
};

export type PasskeyOptionsDto = {
    /**
     * The present password, where the session is older than ten minutes.
     */
    current?: string | null;
};

export type AddPasskeyDto = {
    /**
     * What the browser answered (WebAuthn Level 3, JSON form).
     */
    response: {
        [key: string]: unknown;
    };
    /**
     * What tells it from others. Default: where it was made.
     */
    name?: string | null;
};

export type PasskeyEnvelope = {
    passkey: PasskeyReply;
};

export type InvitedPasskeyDto = {
    /**
     * What the browser answered (WebAuthn Level 3, JSON form).
     */
    response: {
        [key: string]: unknown;
    };
};

export type InviteDto = {
    /**
     * To whom it goes. Of an account that is there already, it is another way into that account.
     */
    email: string;
    /**
     * None above your own. Of an account that is there already: its own.
     */
    role: 'viewer' | 'member' | 'admin' | 'owner';
    /**
     * Of the account that is made.
     */
    name?: string | null;
    /**
     * One of those that you reach. Default: your own; for root the first one. Also accepted as `organization_id`.
     */
    organizationId?: string;
};

export type InvitationReply = {
    id: string;
    email: string;
    name: string | null;
    role: 'viewer' | 'member' | 'admin' | 'owner';
    organizationId: string;
    /**
     * The account, where there is one.
     */
    userId?: string;
    status: 'open' | 'accepted' | 'voided' | 'expired';
    /**
     * How the link goes to whom it is for.
     */
    delivery: 'mail' | 'hand';
    createdAt: string;
    expiresAt: string;
};

export type NewInvitationReply = {
    invitation: InvitationReply;
    /**
     * Where no mail is sent: good once, and shown once (null when an Idempotency-Key is used again). Hand it to its owner alone.
     */
    link?: string | null;
};

export type InvitationListReply = {
    invitations: Array<InvitationReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type UserListReply = {
    users: Array<UserReply>;
    total: number;
    /**
     * For `cursor`, when more follow.
     */
    nextCursor?: string;
};

export type MakeUserDto = {
    /**
     * Unique among the active accounts of an organization, whatever its case.
     */
    email: string;
    /**
     * Shown to people.
     */
    name?: string | null;
    /**
     * A picture. The service never fetches it. Also accepted as `avatar_url`.
     */
    avatarUrl?: string | null;
    /**
     * None above your own. Default `viewer`.
     */
    role?: 'viewer' | 'member' | 'admin' | 'owner';
    /**
     * One of those that you reach. Default: your own; for root the first one. Also accepted as `organization_id`.
     */
    organizationId?: string;
};

export type UserEnvelope = {
    user: UserReply;
};

export type UpdateUserDto = {
    /**
     * Unique among the active accounts of an organization, whatever its case.
     */
    email?: string;
    /**
     * Shown to people.
     */
    name?: string | null;
    /**
     * A picture. The service never fetches it. Also accepted as `avatar_url`.
     */
    avatarUrl?: string | null;
    /**
     * None above your own, and not your own. Counts at their next call.
     */
    role?: 'viewer' | 'member' | 'admin' | 'owner';
};

/**
 * What the service does itself: an HTTP call, a call of a tool on an MCP server, a mail by its own mail server; or what the agent's own node does.
 */
export type Connector = ({
    type: 'http';
} & HttpConnectorDto) | ({
    type: 'mcp';
} & McpConnectorDto) | ({
    type: 'email';
} & EmailConnectorDto) | ({
    type: 'node';
} & NodeConnectorDto);

/**
 * What the service does itself: an HTTP call, a call of a tool on an MCP server, a mail by its own mail server; or what the agent's own node does. With defaults.
 */
export type DefinedConnector = ({
    type: 'http';
} & HttpConnectorReply) | ({
    type: 'mcp';
} & McpConnectorReply) | ({
    type: 'email';
} & EmailConnectorReply) | ({
    type: 'node';
} & NodeConnectorReply);

/**
 * What the gate does with a call, from the mildest to the strictest:
 *
 * - `auto`: it runs at once, and is recorded.
 * - `notify`: as `auto`, and people are notified.
 * - `propose`: a person is asked first, and it runs once it is approved. The request is `pending`, for the agent's owner and its team.
 * - `escalate`: as `propose`, but the request is `escalated` at once: only admins of the organization can approve it.
 * - `block`: it does not run, and nobody is asked.
 *
 * Some capabilities are hardcoded and always escalate, whatever a grant says: `phone.call`, `finance.transfer`, `finance.payment`, `system.shutdown`, `data.delete`.
 */
export type HitlMode = 'auto' | 'notify' | 'propose' | 'escalate' | 'block';

/**
 * What a grant says: one of the five modes (`HitlMode`), or one of three words for when a person is asked. At each call a word is turned
 * into a mode:
 *
 * - `never`: never ask. It is `auto`: the agent may always do it.
 * - `always`: always ask. It is `propose`.
 * - `on_risk`: ask where the agent's risk level is `high` or `unacceptable`. Then it is `propose`, else `auto`.
 */
export type GrantWord = 'auto' | 'notify' | 'propose' | 'escalate' | 'block' | 'never' | 'always' | 'on_risk';

/**
 * What becomes of a request that nobody decides in time:
 *
 * - `reject`: it is `timed_out`, which counts as a rejection: its action does not run.
 * - `approve`: it is approved, and its action runs. Never where an admin or several people have to approve.
 * - `escalate`: it goes to the next level, with a new window; at the highest it is as `reject`.
 * - `notify_only`: as `reject`.
 */
export type TimeoutAction = 'reject' | 'approve' | 'escalate' | 'notify_only';

/**
 * One step from an entry to the root of the platform; `level` says of which tree.
 */
export type InclusionPath = ({
    level: 'organization' | 'platform';
} & TreePathReply) | ({
    level: 'map';
} & MapPathReply);

/**
 * A request in either form, as `?form=` asks: `RequestReply` is camelCase, `RequestSnakeReply` is snake_case. Both say the same.
 */
export type HitlRequest = RequestReply | RequestSnakeReply;

/**
 * What the gate did with a call; `status` says which form it has.
 */
export type GateReply = ({
    status: 'executed';
} & GateExecuted) | ({
    status: 'pending_hitl';
} & GatePending) | ({
    status: 'blocked';
} & GateBlocked) | ({
    status: 'failed';
} & GateFailed) | ({
    status: 'cancelled';
} & GateCancelled) | ({
    status: 'dry_run';
} & GateDryRun);

/**
 * RFC 9457. `code` is the member to decide by; some codes add members of their own.
 */
export type Problem = {
    type: string;
    title: string;
    status: number;
    detail: string;
    instance: string;
    code: 'VALIDATION_FAILED' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'CAPABILITY_NOT_GRANTED' | 'CAPABILITY_NOT_IN_TOKEN' | 'CAPABILITY_BLOCKED' | 'AGENT_INACTIVE' | 'STOPPED' | 'SELF_APPROVAL' | 'NOT_ELIGIBLE' | 'TIER_REQUIRED' | 'PII_SCAN_REQUIRED' | 'PII_BLOCKED' | 'HITL_REJECTED' | 'NOT_FOUND' | 'NO_ELIGIBLE_AGENT' | 'METHOD_NOT_ALLOWED' | 'HITL_PENDING' | 'HITL_ALREADY_DECIDED' | 'HITL_EXPIRED' | 'HITL_DIGEST_MISMATCH' | 'NOT_EXECUTABLE' | 'ESCALATION_LIMIT' | 'CAPABILITIES_CHANGED' | 'IDEMPOTENCY_IN_FLIGHT' | 'CONFLICT' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'HARDCODED_CAPABILITY' | 'IDEMPOTENCY_KEY_REUSED' | 'UNSAFE_URL' | 'INVALID_INPUT' | 'INVALID_CONDITION' | 'TARGET_NOT_ELIGIBLE' | 'TIMEOUT_ACTION_NOT_ALLOWED' | 'CHANNEL_ALWAYS_ON' | 'REASON_REQUIRED' | 'RATE_LIMITED' | 'BUDGET_EXHAUSTED' | 'TOO_MANY_PENDING' | 'INTERNAL' | 'PROVIDER_ERROR' | 'UNAVAILABLE' | 'PROVIDER_TIMEOUT';
    requestId: string;
    errors?: Array<{
        /**
         * RFC 6901 from the root of the body, or `?name` for the query.
         */
        pointer: string;
        message: string;
    }>;
    [key: string]: unknown;
};

export type HealthCheckData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/health';
};

export type HealthCheckResponses = {
    /**
     * Done.
     */
    200: HealthReply;
};

export type HealthCheckResponse = HealthCheckResponses[keyof HealthCheckResponses];

export type HealthLiveData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/health/live';
};

export type HealthLiveResponses = {
    /**
     * Done.
     */
    200: HealthReply;
};

export type HealthLiveResponse = HealthLiveResponses[keyof HealthLiveResponses];

export type HealthReadyData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/health/ready';
};

export type HealthReadyResponses = {
    /**
     * Done.
     */
    200: ReadyReply;
};

export type HealthReadyResponse = HealthReadyResponses[keyof HealthReadyResponses];

export type ExecutionsExecuteData = {
    body: ExecuteDto;
    path?: never;
    query?: {
        /**
         * Seconds to hold the answer until the thing is final.
         */
        wait?: number;
    };
    url: '/api/v1/execute';
};

export type ExecutionsExecuteResponses = {
    /**
     * Done.
     */
    200: GateReply;
    /**
     * Taken on; a person has to decide, or it is still running.
     */
    202: GatePending;
};

export type ExecutionsExecuteResponse = ExecutionsExecuteResponses[keyof ExecutionsExecuteResponses];

export type ExecutionsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only of this organization, for whoever sees several. Also accepted as `organization_id`.
         */
        organizationId?: string;
        /**
         * Only this agent's. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * Only of this capability.
         */
        capability?: string;
        /**
         * Only of this status.
         */
        status?: 'pending_hitl' | 'running' | 'executed' | 'failed' | 'indeterminate' | 'blocked' | 'cancelled';
        /**
         * Asked for at or after this moment.
         */
        from?: string;
        /**
         * Asked for at or before this moment.
         */
        to?: string;
    };
    url: '/api/v1/executions';
};

export type ExecutionsListResponses = {
    /**
     * Done.
     */
    200: ExecutionListReply;
};

export type ExecutionsListResponse = ExecutionsListResponses[keyof ExecutionsListResponses];

export type ExecutionsCreateData = {
    body: ExecuteDto;
    path?: never;
    query?: {
        /**
         * Seconds to hold the answer until the thing is final.
         */
        wait?: number;
    };
    url: '/api/v1/executions';
};

export type ExecutionsCreateResponses = {
    /**
     * Done.
     */
    200: GateReply;
    /**
     * Taken on; a person has to decide, or it is still running.
     */
    202: GatePending;
};

export type ExecutionsCreateResponse = ExecutionsCreateResponses[keyof ExecutionsCreateResponses];

export type HitlListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only of this status, for example `pending`.
         */
        status?: 'pending' | 'escalated' | 'approved' | 'rejected' | 'timed_out' | 'cancelled';
        /**
         * Only of this organization, for whoever sees several. Also accepted as `organization_id`.
         */
        organizationId?: string;
        /**
         * Only this agent's. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * Only of this capability.
         */
        capability?: string;
        /**
         * Only of this escalation level. Also accepted as `escalationLevel`, `escalation_level`.
         */
        level?: number;
        /**
         * Only open requests that stand in the queue of this user, by id or e-mail address, or in the caller's: `me`. Also accepted as `assigned_to`.
         */
        assignedTo?: string;
        /**
         * Only what was last handed to this user. Also accepted as `escalated_to`.
         */
        escalatedTo?: string;
        /**
         * Only those whose time runs out before this moment. Also accepted as `due_before`.
         */
        dueBefore?: string;
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
    };
    url: '/api/v1/hitl';
};

export type HitlListResponses = {
    /**
     * Done.
     */
    200: RequestListReply;
};

export type HitlListResponse = HitlListResponses[keyof HitlListResponses];

export type HitlCreateData = {
    body: CreateRequestDto;
    path?: never;
    query?: never;
    url: '/api/v1/hitl';
};

export type HitlCreateResponses = {
    /**
     * Made.
     */
    201: RequestEnvelope;
};

export type HitlCreateResponse = HitlCreateResponses[keyof HitlCreateResponses];

export type OrganizationsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
    };
    url: '/api/v1/organizations';
};

export type OrganizationsListResponses = {
    /**
     * Done.
     */
    200: OrganizationListReply;
};

export type OrganizationsListResponse = OrganizationsListResponses[keyof OrganizationsListResponses];

export type OrganizationsCreateData = {
    body: MakeOrganizationDto;
    path?: never;
    query?: never;
    url: '/api/v1/organizations';
};

export type OrganizationsCreateResponses = {
    /**
     * Made.
     */
    201: OrganizationEnvelope;
};

export type OrganizationsCreateResponse = OrganizationsCreateResponses[keyof OrganizationsCreateResponses];

export type OrganizationsGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/organizations/{id}';
};

export type OrganizationsGetResponses = {
    /**
     * Done.
     */
    200: OrganizationEnvelope;
};

export type OrganizationsGetResponse = OrganizationsGetResponses[keyof OrganizationsGetResponses];

export type OrganizationsUpdateData = {
    body?: UpdateOrganizationDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/organizations/{id}';
};

export type OrganizationsUpdateResponses = {
    /**
     * Done.
     */
    200: OrganizationEnvelope;
};

export type OrganizationsUpdateResponse = OrganizationsUpdateResponses[keyof OrganizationsUpdateResponses];

export type PersonalKeysListData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
    };
    url: '/api/v1/users/{id}/keys';
};

export type PersonalKeysListResponses = {
    /**
     * Done.
     */
    200: PersonalKeyListReply;
};

export type PersonalKeysListResponse = PersonalKeysListResponses[keyof PersonalKeysListResponses];

export type PersonalKeysCreateData = {
    body: MakePersonalKeyDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/users/{id}/keys';
};

export type PersonalKeysCreateResponses = {
    /**
     * Made.
     */
    201: NewPersonalKeyReply;
};

export type PersonalKeysCreateResponse = PersonalKeysCreateResponses[keyof PersonalKeysCreateResponses];

export type PersonalKeysRevokeData = {
    body?: never;
    path: {
        keyId: string;
        id: string;
    };
    query?: never;
    url: '/api/v1/users/{id}/keys/{keyId}';
};

export type PersonalKeysRevokeResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type PersonalKeysRevokeResponse = PersonalKeysRevokeResponses[keyof PersonalKeysRevokeResponses];

export type TeamsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * One of the organizations that the caller reaches. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/teams';
};

export type TeamsListResponses = {
    /**
     * Done.
     */
    200: TeamListReply;
};

export type TeamsListResponse = TeamsListResponses[keyof TeamsListResponses];

export type TeamsCreateData = {
    body: NewTeamDto;
    path?: never;
    query?: never;
    url: '/api/v1/teams';
};

export type TeamsCreateResponses = {
    /**
     * Made.
     */
    201: TeamEnvelope;
};

export type TeamsCreateResponse = TeamsCreateResponses[keyof TeamsCreateResponses];

export type TeamsRemoveData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/teams/{id}';
};

export type TeamsRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type TeamsRemoveResponse = TeamsRemoveResponses[keyof TeamsRemoveResponses];

export type TeamsGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/teams/{id}';
};

export type TeamsGetResponses = {
    /**
     * Done.
     */
    200: TeamEnvelope;
};

export type TeamsGetResponse = TeamsGetResponses[keyof TeamsGetResponses];

export type TeamsUpdateData = {
    body?: UpdateTeamDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/teams/{id}';
};

export type TeamsUpdateResponses = {
    /**
     * Done.
     */
    200: TeamEnvelope;
};

export type TeamsUpdateResponse = TeamsUpdateResponses[keyof TeamsUpdateResponses];

export type TeamsAddMemberData = {
    body: NewMemberDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/teams/{id}/members';
};

export type TeamsAddMemberResponses = {
    /**
     * Done.
     */
    200: MemberEnvelope;
    /**
     * Made.
     */
    201: MemberEnvelope;
};

export type TeamsAddMemberResponse = TeamsAddMemberResponses[keyof TeamsAddMemberResponses];

export type TeamsRemoveMemberData = {
    body?: never;
    path: {
        userId: string;
        id: string;
    };
    query?: never;
    url: '/api/v1/teams/{id}/members/{userId}';
};

export type TeamsRemoveMemberResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type TeamsRemoveMemberResponse = TeamsRemoveMemberResponses[keyof TeamsRemoveMemberResponses];

export type CapabilitiesListData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/capabilities';
};

export type CapabilitiesListResponses = {
    /**
     * Done.
     */
    200: CapabilityListReply;
};

export type CapabilitiesListResponse = CapabilitiesListResponses[keyof CapabilitiesListResponses];

export type CapabilitiesDefineData = {
    body: DefineCapabilityDto;
    path?: never;
    query?: never;
    url: '/api/v1/capabilities';
};

export type CapabilitiesDefineResponses = {
    /**
     * Made.
     */
    201: CapabilityEnvelope;
};

export type CapabilitiesDefineResponse = CapabilitiesDefineResponses[keyof CapabilitiesDefineResponses];

export type CapabilitiesRemoveData = {
    body?: never;
    path: {
        name: string;
    };
    query?: never;
    url: '/api/v1/capabilities/{name}';
};

export type CapabilitiesRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type CapabilitiesRemoveResponse = CapabilitiesRemoveResponses[keyof CapabilitiesRemoveResponses];

export type CapabilitiesUpdateData = {
    body?: UpdateCapabilityDto;
    path: {
        name: string;
    };
    query?: never;
    url: '/api/v1/capabilities/{name}';
};

export type CapabilitiesUpdateResponses = {
    /**
     * Done.
     */
    200: CapabilityEnvelope;
};

export type CapabilitiesUpdateResponse = CapabilitiesUpdateResponses[keyof CapabilitiesUpdateResponses];

export type SecretsListData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/secrets';
};

export type SecretsListResponses = {
    /**
     * Done.
     */
    200: SecretListReply;
};

export type SecretsListResponse = SecretsListResponses[keyof SecretsListResponses];

export type SecretsRemoveData = {
    body?: never;
    path: {
        secret: string;
    };
    query?: never;
    url: '/api/v1/secrets/{secret}';
};

export type SecretsRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type SecretsRemoveResponse = SecretsRemoveResponses[keyof SecretsRemoveResponses];

export type SecretsPutData = {
    body: PutSecretDto;
    path: {
        secret: string;
    };
    query?: never;
    url: '/api/v1/secrets/{secret}';
};

export type SecretsPutResponses = {
    /**
     * Done.
     */
    200: SecretEnvelope;
    /**
     * Made.
     */
    201: SecretEnvelope;
};

export type SecretsPutResponse = SecretsPutResponses[keyof SecretsPutResponses];

export type AgentsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only agents of this status.
         */
        status?: 'active' | 'deactivated';
        /**
         * Only agents of this risk level. Also accepted as `risk_level`.
         */
        riskLevel?: 'minimal' | 'limited' | 'high' | 'unacceptable';
        /**
         * Only agents of this owner. Also accepted as `owner_id`.
         */
        ownerId?: string;
        /**
         * Only agents of this team. Also accepted as `team_id`.
         */
        teamId?: string;
        /**
         * Root only: one organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/agents';
};

export type AgentsListResponses = {
    /**
     * Done.
     */
    200: AgentListReply;
};

export type AgentsListResponse = AgentsListResponses[keyof AgentsListResponses];

export type AgentsRegisterData = {
    body: RegisterAgentDto;
    path?: never;
    query?: never;
    url: '/api/v1/agents';
};

export type AgentsRegisterResponses = {
    /**
     * Made.
     */
    201: RegistrationReply;
};

export type AgentsRegisterResponse = AgentsRegisterResponses[keyof AgentsRegisterResponses];

export type AgentsRemoveData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}';
};

export type AgentsRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type AgentsRemoveResponse = AgentsRemoveResponses[keyof AgentsRemoveResponses];

export type AgentsGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}';
};

export type AgentsGetResponses = {
    /**
     * Done.
     */
    200: AgentEnvelope;
};

export type AgentsGetResponse = AgentsGetResponses[keyof AgentsGetResponses];

export type AgentsUpdateData = {
    body?: UpdateAgentDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}';
};

export type AgentsUpdateResponses = {
    /**
     * Done.
     */
    200: AgentEnvelope;
};

export type AgentsUpdateResponse = AgentsUpdateResponses[keyof AgentsUpdateResponses];

export type AgentsSetRiskLevelData = {
    body: RiskLevelDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/risk-level';
};

export type AgentsSetRiskLevelResponses = {
    /**
     * Done.
     */
    200: AgentEnvelope;
};

export type AgentsSetRiskLevelResponse = AgentsSetRiskLevelResponses[keyof AgentsSetRiskLevelResponses];

export type AgentsDeactivateData = {
    body?: ReasonDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/deactivate';
};

export type AgentsDeactivateResponses = {
    /**
     * Done.
     */
    200: AgentEnvelope;
};

export type AgentsDeactivateResponse = AgentsDeactivateResponses[keyof AgentsDeactivateResponses];

export type AgentsActivateData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/activate';
};

export type AgentsActivateResponses = {
    /**
     * Done.
     */
    200: AgentEnvelope;
};

export type AgentsActivateResponse = AgentsActivateResponses[keyof AgentsActivateResponses];

export type AgentsIssueTokenData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/token';
};

export type AgentsIssueTokenResponses = {
    /**
     * Done.
     */
    200: TokenReply;
};

export type AgentsIssueTokenResponse = AgentsIssueTokenResponses[keyof AgentsIssueTokenResponses];

export type AgentsRefreshTokenData = {
    body?: RefreshTokenDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/token/refresh';
};

export type AgentsRefreshTokenResponses = {
    /**
     * Done.
     */
    200: TokenReply;
};

export type AgentsRefreshTokenResponse = AgentsRefreshTokenResponses[keyof AgentsRefreshTokenResponses];

export type AgentsRevokeTokensData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/tokens';
};

export type AgentsRevokeTokensResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type AgentsRevokeTokensResponse = AgentsRevokeTokensResponses[keyof AgentsRevokeTokensResponses];

export type AgentKeysListData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
    };
    url: '/api/v1/agents/{id}/keys';
};

export type AgentKeysListResponses = {
    /**
     * Done.
     */
    200: AgentKeyListReply;
};

export type AgentKeysListResponse = AgentKeysListResponses[keyof AgentKeysListResponses];

export type AgentKeysCreateData = {
    body: MakeAgentKeyDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/keys';
};

export type AgentKeysCreateResponses = {
    /**
     * Made.
     */
    201: NewAgentKeyReply;
};

export type AgentKeysCreateResponse = AgentKeysCreateResponses[keyof AgentKeysCreateResponses];

export type AgentKeysDeleteData = {
    body?: never;
    path: {
        keyId: string;
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/keys/{keyId}';
};

export type AgentKeysDeleteResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type AgentKeysDeleteResponse = AgentKeysDeleteResponses[keyof AgentKeysDeleteResponses];

export type AgentKeysExchangeData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/agents/token';
};

export type AgentKeysExchangeResponses = {
    /**
     * Done.
     */
    200: TokenReply;
};

export type AgentKeysExchangeResponse = AgentKeysExchangeResponses[keyof AgentKeysExchangeResponses];

export type GrantsCreateData = {
    body: GrantToDto;
    path?: never;
    query?: never;
    url: '/api/v1/capabilities/grant';
};

export type GrantsCreateResponses = {
    /**
     * Done.
     */
    200: WrittenGrantReply;
    /**
     * Made.
     */
    201: WrittenGrantReply;
};

export type GrantsCreateResponse = GrantsCreateResponses[keyof GrantsCreateResponses];

export type GrantsListOfAgentData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
    };
    url: '/api/v1/agents/{id}/capabilities';
};

export type GrantsListOfAgentResponses = {
    /**
     * Done.
     */
    200: GrantListReply;
};

export type GrantsListOfAgentResponse = GrantsListOfAgentResponses[keyof GrantsListOfAgentResponses];

export type GrantsCreateForAgentData = {
    body: NewGrantDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/capabilities';
};

export type GrantsCreateForAgentResponses = {
    /**
     * Done.
     */
    200: WrittenGrantReply;
    /**
     * Made.
     */
    201: WrittenGrantReply;
};

export type GrantsCreateForAgentResponse = GrantsCreateForAgentResponses[keyof GrantsCreateForAgentResponses];

export type GrantsConfigureData = {
    body?: GrantSettingsDto;
    path: {
        capability: string;
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/capabilities/{capability}';
};

export type GrantsConfigureResponses = {
    /**
     * Done.
     */
    200: WrittenGrantReply;
};

export type GrantsConfigureResponse = GrantsConfigureResponses[keyof GrantsConfigureResponses];

export type GrantsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Who holds this capability.
         */
        capability?: string;
        /**
         * What this agent holds: for each capability the grant that counts, its own or its team's. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * What this team holds. Also accepted as `team_id`.
         */
        teamId?: string;
    };
    url: '/api/v1/capabilities/grants';
};

export type GrantsListResponses = {
    /**
     * Done.
     */
    200: GrantListReply;
};

export type GrantsListResponse = GrantsListResponses[keyof GrantsListResponses];

export type GrantsRevokeData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/capabilities/grant/{id}';
};

export type GrantsRevokeResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type GrantsRevokeResponse = GrantsRevokeResponses[keyof GrantsRevokeResponses];

export type NodesIssueSetupTokenData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/setup-token';
};

export type NodesIssueSetupTokenResponses = {
    /**
     * Made.
     */
    201: SetupTokenReply;
};

export type NodesIssueSetupTokenResponse = NodesIssueSetupTokenResponses[keyof NodesIssueSetupTokenResponses];

export type NodesActivateData = {
    body: ActivateNodeDto;
    path?: never;
    query?: never;
    url: '/api/v1/node/activate';
};

export type NodesActivateResponses = {
    /**
     * Done.
     */
    200: RegistrationReply;
};

export type NodesActivateResponse = NodesActivateResponses[keyof NodesActivateResponses];

export type ExecutionsGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * Seconds to hold the answer until the thing is final.
         */
        wait?: number;
    };
    url: '/api/v1/executions/{id}';
};

export type ExecutionsGetResponses = {
    /**
     * Done.
     */
    200: ExecutionEnvelope;
};

export type ExecutionsGetResponse = ExecutionsGetResponses[keyof ExecutionsGetResponses];

export type ExecutionsReportData = {
    body: ReportDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/executions/{id}/report';
};

export type ExecutionsReportResponses = {
    /**
     * Done.
     */
    200: ExecutionEnvelope;
};

export type ExecutionsReportResponse = ExecutionsReportResponses[keyof ExecutionsReportResponses];

export type ExecutionsSettleData = {
    body: SettleDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/executions/{id}/settle';
};

export type ExecutionsSettleResponses = {
    /**
     * Done.
     */
    200: ExecutionEnvelope;
};

export type ExecutionsSettleResponse = ExecutionsSettleResponses[keyof ExecutionsSettleResponses];

export type HitlStatsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Asked at or after this moment.
         */
        from?: string;
        /**
         * Asked at or before this moment.
         */
        to?: string;
        /**
         * Only this agent's. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * Only of this capability.
         */
        capability?: string;
        /**
         * Only of this organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/hitl/stats';
};

export type HitlStatsResponses = {
    /**
     * Done.
     */
    200: HitlStatsReply;
};

export type HitlStatsResponse = HitlStatsResponses[keyof HitlStatsResponses];

export type HitlCheckTimeoutsByGetData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/hitl/check-timeouts';
};

export type HitlCheckTimeoutsByGetResponses = {
    /**
     * Done.
     */
    200: ExpiryReply;
};

export type HitlCheckTimeoutsByGetResponse = HitlCheckTimeoutsByGetResponses[keyof HitlCheckTimeoutsByGetResponses];

export type HitlCheckTimeoutsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/hitl/check-timeouts';
};

export type HitlCheckTimeoutsResponses = {
    /**
     * Done.
     */
    200: ExpiryReply;
};

export type HitlCheckTimeoutsResponse = HitlCheckTimeoutsResponses[keyof HitlCheckTimeoutsResponses];

export type HitlGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
        /**
         * Seconds to hold the answer until the request is final.
         */
        wait?: number;
    };
    url: '/api/v1/hitl/{id}';
};

export type HitlGetResponses = {
    /**
     * Done.
     */
    200: HitlRequest;
};

export type HitlGetResponse = HitlGetResponses[keyof HitlGetResponses];

export type HitlDecideBatchData = {
    body: BatchDto;
    path?: never;
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
    };
    url: '/api/v1/hitl/batch';
};

export type HitlDecideBatchResponses = {
    /**
     * Done.
     */
    200: BatchReply;
};

export type HitlDecideBatchResponse = HitlDecideBatchResponses[keyof HitlDecideBatchResponses];

export type HitlApproveData = {
    body?: ApprovalDto;
    path: {
        id: string;
    };
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
        /**
         * Seconds to hold the answer until the request is final.
         */
        wait?: number;
    };
    url: '/api/v1/hitl/{id}/approve';
};

export type HitlApproveResponses = {
    /**
     * Done.
     */
    200: DecidedRequestEnvelope;
};

export type HitlApproveResponse = HitlApproveResponses[keyof HitlApproveResponses];

export type HitlRejectData = {
    body?: DecisionDto;
    path: {
        id: string;
    };
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
    };
    url: '/api/v1/hitl/{id}/reject';
};

export type HitlRejectResponses = {
    /**
     * Done.
     */
    200: DecidedRequestEnvelope;
};

export type HitlRejectResponse = HitlRejectResponses[keyof HitlRejectResponses];

export type HitlEscalateData = {
    body: EscalationDto;
    path: {
        id: string;
    };
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
    };
    url: '/api/v1/hitl/{id}/escalate';
};

export type HitlEscalateResponses = {
    /**
     * Done.
     */
    200: HitlRequest;
};

export type HitlEscalateResponse = HitlEscalateResponses[keyof HitlEscalateResponses];

export type HitlCancelData = {
    body?: DecisionDto;
    path: {
        id: string;
    };
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
    };
    url: '/api/v1/hitl/{id}/cancel';
};

export type HitlCancelResponses = {
    /**
     * Done.
     */
    200: DecidedRequestEnvelope;
};

export type HitlCancelResponse = HitlCancelResponses[keyof HitlCancelResponses];

export type HitlTimeoutData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * Spelling of the answer's members.
         */
        form?: 'snake' | 'camel';
    };
    url: '/api/v1/hitl/{id}/timeout';
};

export type HitlTimeoutResponses = {
    /**
     * Done.
     */
    200: TimeoutReply;
};

export type HitlTimeoutResponse = HitlTimeoutResponses[keyof HitlTimeoutResponses];

export type ExecutionsCancelData = {
    body?: DecisionDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/executions/{id}/cancel';
};

export type ExecutionsCancelResponses = {
    /**
     * Done.
     */
    200: ExecutionEnvelope;
};

export type ExecutionsCancelResponse = ExecutionsCancelResponses[keyof ExecutionsCancelResponses];

export type AgentsTransferData = {
    body: TransferDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/agents/{id}/transfer';
};

export type AgentsTransferResponses = {
    /**
     * Done.
     */
    200: AgentEnvelope;
};

export type AgentsTransferResponse = AgentsTransferResponses[keyof AgentsTransferResponses];

export type StopsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only those that are in force, or that are not any more.
         */
        status?: 'active' | 'lifted';
        /**
         * Only stops of this agent itself. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * Only one organization's. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/stops';
};

export type StopsListResponses = {
    /**
     * Done.
     */
    200: StopListReply;
};

export type StopsListResponse = StopsListResponses[keyof StopsListResponses];

export type StopsCreateData = {
    body: MakeStopDto;
    path?: never;
    query?: never;
    url: '/api/v1/stops';
};

export type StopsCreateResponses = {
    /**
     * Made.
     */
    201: StopEnvelope;
};

export type StopsCreateResponse = StopsCreateResponses[keyof StopsCreateResponses];

export type StopsLiftData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/stops/{id}';
};

export type StopsLiftResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type StopsLiftResponse = StopsLiftResponses[keyof StopsLiftResponses];

export type StopsGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/stops/{id}';
};

export type StopsGetResponses = {
    /**
     * Done.
     */
    200: StopEnvelope;
};

export type StopsGetResponse = StopsGetResponses[keyof StopsGetResponses];

export type AuditKeysData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/audit/keys';
};

export type AuditKeysResponses = {
    /**
     * Done.
     */
    200: KeysReply;
};

export type AuditKeysResponse = AuditKeysResponses[keyof AuditKeysResponses];

export type AuditCheckpointsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
    };
    url: '/api/v1/audit/checkpoints';
};

export type AuditCheckpointsResponses = {
    /**
     * Done.
     */
    200: CheckpointListReply;
};

export type AuditCheckpointsResponse = AuditCheckpointsResponses[keyof AuditCheckpointsResponses];

export type AuditProofData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/audit/{id}/proof';
};

export type AuditProofResponses = {
    /**
     * Done.
     */
    200: ProofReply;
};

export type AuditProofResponse = AuditProofResponses[keyof AuditProofResponses];

export type ErasuresListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only those in this state.
         */
        state?: 'unconfirmed' | 'running' | 'done' | 'declined';
        /**
         * Only erasures of this user. Also accepted as `user_id`.
         */
        userId?: string;
        /**
         * Only one organization's. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/audit/erasures';
};

export type ErasuresListResponses = {
    /**
     * Done.
     */
    200: ErasureListReply;
};

export type ErasuresListResponse = ErasuresListResponses[keyof ErasuresListResponses];

export type ErasuresCreateData = {
    body: AskErasureDto;
    path?: never;
    query?: never;
    url: '/api/v1/audit/erasures';
};

export type ErasuresCreateResponses = {
    /**
     * Done.
     */
    200: FoundReply;
    /**
     * Taken on; a person has to decide, or it is still running.
     */
    202: FoundReply;
};

export type ErasuresCreateResponse = ErasuresCreateResponses[keyof ErasuresCreateResponses];

export type ErasuresConfirmData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/audit/erasures/{id}/confirm';
};

export type ErasuresConfirmResponses = {
    /**
     * Done.
     */
    200: ErasureEnvelope;
};

export type ErasuresConfirmResponse = ErasuresConfirmResponses[keyof ErasuresConfirmResponses];

export type UsersEraseDataData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/users/{id}/data';
};

export type UsersEraseDataResponses = {
    /**
     * Done.
     */
    200: ErasedUserReply;
};

export type UsersEraseDataResponse = UsersEraseDataResponses[keyof UsersEraseDataResponses];

export type AuditListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Event type; an unknown one finds nothing. Also accepted as `eventType`, `event_type`.
         */
        event?: string;
        /**
         * One agent's entries. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * Entries that this user made or that are about them: by id, or by e-mail address. Also accepted as `user_id`, `user`.
         */
        userId?: string;
        /**
         * Capability.
         */
        capability?: string;
        /**
         * Outcome; `success` also finds `executed`.
         */
        outcome?: 'success' | 'failure' | 'blocked' | 'executed';
        /**
         * Narrows what the caller may see to one organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
        /**
         * Not before; a bare date is the whole UTC day.
         */
        from?: string;
        /**
         * Not after; a bare date is the whole UTC day.
         */
        to?: string;
    };
    url: '/api/v1/audit';
};

export type AuditListResponses = {
    /**
     * Done.
     */
    200: AuditListReply;
};

export type AuditListResponse = AuditListResponses[keyof AuditListResponses];

export type AuditVerifyData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Verify only this agent's chain. Also accepted as `agent_id`.
         */
        agentId?: string;
    };
    url: '/api/v1/audit/verify';
};

export type AuditVerifyResponses = {
    /**
     * Done.
     */
    200: VerificationReply;
};

export type AuditVerifyResponse = AuditVerifyResponses[keyof AuditVerifyResponses];

export type AuditGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/audit/{id}';
};

export type AuditGetResponses = {
    /**
     * Done.
     */
    200: AuditEntryReply;
};

export type AuditGetResponse = AuditGetResponses[keyof AuditGetResponses];

export type TenantsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Default `active`.
         */
        status?: 'active' | 'deleted';
    };
    url: '/internal/v1/tenants';
};

export type TenantsListResponses = {
    /**
     * Done.
     */
    200: TenantListReply;
};

export type TenantsListResponse = TenantsListResponses[keyof TenantsListResponses];

export type TenantsCreateData = {
    body: MakeTenantDto;
    path?: never;
    query?: never;
    url: '/internal/v1/tenants';
};

export type TenantsCreateResponses = {
    /**
     * Made.
     */
    201: TenantEnvelope;
};

export type TenantsCreateResponse = TenantsCreateResponses[keyof TenantsCreateResponses];

export type TenantsRemoveData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/internal/v1/tenants/{id}';
};

export type TenantsRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type TenantsRemoveResponse = TenantsRemoveResponses[keyof TenantsRemoveResponses];

export type TenantsGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/internal/v1/tenants/{id}';
};

export type TenantsGetResponses = {
    /**
     * Done.
     */
    200: TenantEnvelope;
};

export type TenantsGetResponse = TenantsGetResponses[keyof TenantsGetResponses];

export type TenantsUpdateData = {
    body?: UpdateTenantDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/internal/v1/tenants/{id}';
};

export type TenantsUpdateResponses = {
    /**
     * Done.
     */
    200: TenantEnvelope;
};

export type TenantsUpdateResponse = TenantsUpdateResponses[keyof TenantsUpdateResponses];

export type TenantsSubscribeData = {
    body: SubscriptionDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/internal/v1/tenants/{id}/subscription';
};

export type TenantsSubscribeResponses = {
    /**
     * Done.
     */
    200: TenantEnvelope;
};

export type TenantsSubscribeResponse = TenantsSubscribeResponses[keyof TenantsSubscribeResponses];

export type TenantsUsageData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * Executions not before; a bare date is the whole UTC day. Default: 30 days before `to`.
         */
        from?: string;
        /**
         * Executions not after; a bare date is the whole UTC day. Default: now.
         */
        to?: string;
    };
    url: '/internal/v1/tenants/{id}/usage';
};

export type TenantsUsageResponses = {
    /**
     * Done.
     */
    200: UsageEnvelope;
};

export type TenantsUsageResponse = TenantsUsageResponses[keyof TenantsUsageResponses];

export type InternalAuthVerifyTokenData = {
    body: VerifyTokenDto;
    path?: never;
    query?: never;
    url: '/internal/v1/auth/verify';
};

export type InternalAuthVerifyTokenResponses = {
    /**
     * Done.
     */
    200: VerifyTokenReply;
};

export type InternalAuthVerifyTokenResponse = InternalAuthVerifyTokenResponses[keyof InternalAuthVerifyTokenResponses];

export type ChannelsRemoveData = {
    body?: never;
    path: {
        channel: string;
    };
    query?: {
        /**
         * One of the organizations that the caller reaches. Default: the own organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/notifications/config/{channel}';
};

export type ChannelsRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type ChannelsRemoveResponse = ChannelsRemoveResponses[keyof ChannelsRemoveResponses];

export type ChannelsGetData = {
    body?: never;
    path: {
        channel: string;
    };
    query?: {
        /**
         * One of the organizations that the caller reaches. Default: the own organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/notifications/config/{channel}';
};

export type ChannelsGetResponses = {
    /**
     * Done.
     */
    200: ChannelEnvelope;
};

export type ChannelsGetResponse = ChannelsGetResponses[keyof ChannelsGetResponses];

export type ChannelsSetData = {
    body: ChannelDto;
    path: {
        channel: string;
    };
    query?: {
        /**
         * One of the organizations that the caller reaches. Default: the own organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/notifications/config/{channel}';
};

export type ChannelsSetResponses = {
    /**
     * Done.
     */
    200: ChannelEnvelope;
};

export type ChannelsSetResponse = ChannelsSetResponses[keyof ChannelsSetResponses];

export type ChannelsTestData = {
    body?: never;
    path: {
        channel: string;
    };
    query?: {
        /**
         * One of the organizations that the caller reaches. Default: the own organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/notifications/config/{channel}/test';
};

export type ChannelsTestResponses = {
    /**
     * Done.
     */
    200: ChannelTestReply;
};

export type ChannelsTestResponse = ChannelsTestResponses[keyof ChannelsTestResponses];

export type DeliveriesListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * `dead`: given up. `superseded`: there was nothing to ask people any more.
         */
        state?: 'waiting' | 'delivered' | 'superseded' | 'dead';
        /**
         * Channel.
         */
        channel?: 'email' | 'slack' | 'teams' | 'webhook';
        /**
         * Deliveries about this request. Also accepted as `hitl_request_id`.
         */
        hitlRequestId?: string;
        /**
         * Narrows what the caller may see to one organization. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/notifications/deliveries';
};

export type DeliveriesListResponses = {
    /**
     * Done.
     */
    200: DeliveryListReply;
};

export type DeliveriesListResponse = DeliveriesListResponses[keyof DeliveriesListResponses];

export type DeliveriesRetryData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/notifications/deliveries/{id}/retry';
};

export type DeliveriesRetryResponses = {
    /**
     * Done.
     */
    200: DeliveryEnvelope;
};

export type DeliveriesRetryResponse = DeliveriesRetryResponses[keyof DeliveriesRetryResponses];

export type ChatAccountsListData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/notifications/chat-accounts';
};

export type ChatAccountsListResponses = {
    /**
     * Done.
     */
    200: ChatAccountListReply;
};

export type ChatAccountsListResponse = ChatAccountsListResponses[keyof ChatAccountsListResponses];

export type ChatAccountsRemoveData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/notifications/chat-accounts/{id}';
};

export type ChatAccountsRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type ChatAccountsRemoveResponse = ChatAccountsRemoveResponses[keyof ChatAccountsRemoveResponses];

export type InboxListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * `true`: only unread ones; `false`: only read ones.
         */
        unread?: boolean;
        /**
         * Seconds to hold the answer until something is unread.
         */
        wait?: number;
    };
    url: '/api/v1/notifications';
};

export type InboxListResponses = {
    /**
     * Done.
     */
    200: InboxReply;
};

export type InboxListResponse = InboxListResponses[keyof InboxListResponses];

export type InboxReadData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/notifications/{id}/read';
};

export type InboxReadResponses = {
    /**
     * Done.
     */
    200: ReadReply;
};

export type InboxReadResponse = InboxReadResponses[keyof InboxReadResponses];

export type NodesHeartbeatData = {
    body?: HeartbeatDto;
    path?: never;
    query?: never;
    url: '/api/v1/node/heartbeat';
};

export type NodesHeartbeatResponses = {
    /**
     * Done.
     */
    200: HeartbeatReply;
};

export type NodesHeartbeatResponse = NodesHeartbeatResponses[keyof NodesHeartbeatResponses];

export type NodesLeaseData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Seconds to hold the answer until the thing is final.
         */
        wait?: number;
    };
    url: '/api/v1/node/tasks/lease';
};

export type NodesLeaseResponses = {
    /**
     * Done.
     */
    200: LeaseReply;
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type NodesLeaseResponse = NodesLeaseResponses[keyof NodesLeaseResponses];

export type NodesStartData = {
    body: StartWorkDto;
    path: {
        executionId: string;
    };
    query?: never;
    url: '/api/v1/node/tasks/{executionId}/start';
};

export type NodesStartResponses = {
    /**
     * Done.
     */
    200: StartReply;
};

export type NodesStartResponse = NodesStartResponses[keyof NodesStartResponses];

export type NodesResultData = {
    body: WorkResultDto;
    path: {
        executionId: string;
    };
    query?: never;
    url: '/api/v1/node/tasks/{executionId}/result';
};

export type NodesResultResponses = {
    /**
     * Done.
     */
    200: ResultReply;
};

export type NodesResultResponse = NodesResultResponses[keyof NodesResultResponses];

export type LlmModelsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Seconds to hold the answer while people decide.
         */
        wait?: number;
    };
    url: '/api/v1/llm/models';
};

export type LlmModelsResponses = {
    /**
     * Done.
     */
    200: ModelListReply;
};

export type LlmModelsResponse = LlmModelsResponses[keyof LlmModelsResponses];

export type LlmModelsByOtherPathData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Seconds to hold the answer while people decide.
         */
        wait?: number;
    };
    url: '/api/v1/llm/v1/models';
};

export type LlmModelsByOtherPathResponses = {
    /**
     * Done.
     */
    200: ModelListReply;
};

export type LlmModelsByOtherPathResponse = LlmModelsByOtherPathResponses[keyof LlmModelsByOtherPathResponses];

export type LlmChatData = {
    body: ChatDto;
    path?: never;
    query?: {
        /**
         * Seconds to hold the answer until the thing is final.
         */
        wait?: number;
    };
    url: '/api/v1/llm/chat';
};

export type LlmChatResponses = {
    /**
     * Done.
     */
    200: ChatReply;
    /**
     * Taken on; a person has to decide, or it is still running.
     */
    202: GatePending;
};

export type LlmChatResponse = LlmChatResponses[keyof LlmChatResponses];

export type LlmScanData = {
    body: ScanDto;
    path?: never;
    query?: never;
    url: '/api/v1/llm/scan';
};

export type LlmScanResponses = {
    /**
     * Done.
     */
    200: ScanReply;
};

export type LlmScanResponse = LlmScanResponses[keyof LlmScanResponses];

export type LlmUsageData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only of this organization, for whoever sees several. Also accepted as `organization_id`.
         */
        organizationId?: string;
        /**
         * Only this agent's. Also accepted as `agent_id`.
         */
        agentId?: string;
        /**
         * Calls made at or after this moment. Default: 30 days ago.
         */
        from?: string;
        /**
         * Calls made at or before this moment; at most 92 days after `from`. Default: now.
         */
        to?: string;
    };
    url: '/api/v1/llm/usage';
};

export type LlmUsageResponses = {
    /**
     * Done.
     */
    200: LlmUsageReply;
};

export type LlmUsageResponse = LlmUsageResponses[keyof LlmUsageResponses];

export type RoutingResolveData = {
    body?: ResolveDto;
    path?: never;
    query?: never;
    url: '/api/v1/routing/resolve';
};

export type RoutingResolveResponses = {
    /**
     * Done.
     */
    200: RoutingDecisionEnvelope;
};

export type RoutingResolveResponse = RoutingResolveResponses[keyof RoutingResolveResponses];

export type RoutingDelegateData = {
    body: DelegateDto;
    path?: never;
    query?: never;
    url: '/api/v1/routing/delegate';
};

export type RoutingDelegateResponses = {
    /**
     * Made.
     */
    201: DelegationReply;
};

export type RoutingDelegateResponse = RoutingDelegateResponses[keyof RoutingDelegateResponses];

export type RoutingLogData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only of this organization, for whoever sees several. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/routing/log';
};

export type RoutingLogResponses = {
    /**
     * Done.
     */
    200: RoutingLogReply;
};

export type RoutingLogResponse = RoutingLogResponses[keyof RoutingLogResponses];

export type TasksListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only of this organization, for whoever sees several. Also accepted as `organization_id`.
         */
        organizationId?: string;
        /**
         * Only tasks of this agent. Also accepted as `agent_id`, `toAgentId`, `to_agent_id`.
         */
        agentId?: string;
        /**
         * Only what this agent gave. Also accepted as `from_agent_id`.
         */
        fromAgentId?: string;
        /**
         * Only what was delegated directly within this task. Also accepted as `parent_id`.
         */
        parentId?: string;
        /**
         * Only of this status.
         */
        status?: 'assigned' | 'running' | 'done' | 'failed' | 'cancelled';
    };
    url: '/api/v1/tasks';
};

export type TasksListResponses = {
    /**
     * Done.
     */
    200: TaskListReply;
};

export type TasksListResponse = TasksListResponses[keyof TasksListResponses];

export type TasksGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * Seconds to hold the answer until the thing is final.
         */
        wait?: number;
    };
    url: '/api/v1/tasks/{id}';
};

export type TasksGetResponses = {
    /**
     * Done.
     */
    200: TaskEnvelope;
};

export type TasksGetResponse = TasksGetResponses[keyof TasksGetResponses];

export type TasksCancelData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/tasks/{id}/cancel';
};

export type TasksCancelResponses = {
    /**
     * Done.
     */
    200: TaskEnvelope;
};

export type TasksCancelResponse = TasksCancelResponses[keyof TasksCancelResponses];

export type AuthMeData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/auth/me';
};

export type AuthMeResponses = {
    /**
     * Done.
     */
    200: WhoAmIReply;
};

export type AuthMeResponse = AuthMeResponses[keyof AuthMeResponses];

export type SessionsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
    };
    url: '/api/v1/auth/sessions';
};

export type SessionsListResponses = {
    /**
     * Done.
     */
    200: SessionListReply;
};

export type SessionsListResponse = SessionsListResponses[keyof SessionsListResponses];

export type SessionsEndData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/auth/sessions/{id}';
};

export type SessionsEndResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type SessionsEndResponse = SessionsEndResponses[keyof SessionsEndResponses];

export type AuthLogoutData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/auth/logout';
};

export type AuthLogoutResponses = {
    /**
     * Done.
     */
    200: SignedOutReply;
};

export type AuthLogoutResponse = AuthLogoutResponses[keyof AuthLogoutResponses];

export type AuthChangePasswordData = {
    body: ChangePasswordDto;
    path?: never;
    query?: never;
    url: '/api/v1/auth/password';
};

export type AuthChangePasswordResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type AuthChangePasswordResponse = AuthChangePasswordResponses[keyof AuthChangePasswordResponses];

export type PasskeysSignInOptionsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/auth/passkey/options';
};

export type PasskeysSignInOptionsResponses = {
    /**
     * Done.
     */
    200: PasskeyOptionsReply;
};

export type PasskeysSignInOptionsResponse = PasskeysSignInOptionsResponses[keyof PasskeysSignInOptionsResponses];

export type PasskeysSignInData = {
    body: PasskeySignInDto;
    path?: never;
    query?: never;
    url: '/api/v1/auth/passkey';
};

export type PasskeysSignInResponses = {
    /**
     * Done.
     */
    200: PasskeySignInReply;
};

export type PasskeysSignInResponse = PasskeysSignInResponses[keyof PasskeysSignInResponses];

export type PasskeysListData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/auth/passkeys';
};

export type PasskeysListResponses = {
    /**
     * Done.
     */
    200: PasskeyListReply;
};

export type PasskeysListResponse = PasskeysListResponses[keyof PasskeysListResponses];

export type PasskeysAddData = {
    body: AddPasskeyDto;
    path?: never;
    query?: never;
    url: '/api/v1/auth/passkeys';
};

export type PasskeysAddResponses = {
    /**
     * Made.
     */
    201: PasskeyEnvelope;
};

export type PasskeysAddResponse = PasskeysAddResponses[keyof PasskeysAddResponses];

export type PasskeysAddOptionsData = {
    body?: PasskeyOptionsDto;
    path?: never;
    query?: never;
    url: '/api/v1/auth/passkeys/options';
};

export type PasskeysAddOptionsResponses = {
    /**
     * Done.
     */
    200: PasskeyOptionsReply;
};

export type PasskeysAddOptionsResponse = PasskeysAddOptionsResponses[keyof PasskeysAddOptionsResponses];

export type PasskeysRemoveData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/auth/passkeys/{id}';
};

export type PasskeysRemoveResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type PasskeysRemoveResponse = PasskeysRemoveResponses[keyof PasskeysRemoveResponses];

export type PasskeysInvitationOptionsData = {
    body?: never;
    path: {
        token: string;
    };
    query?: never;
    url: '/api/v1/auth/invitations/{token}/passkey/options';
};

export type PasskeysInvitationOptionsResponses = {
    /**
     * Done.
     */
    200: PasskeyOptionsReply;
};

export type PasskeysInvitationOptionsResponse = PasskeysInvitationOptionsResponses[keyof PasskeysInvitationOptionsResponses];

export type PasskeysAcceptInvitationData = {
    body: InvitedPasskeyDto;
    path: {
        token: string;
    };
    query?: never;
    url: '/api/v1/auth/invitations/{token}/passkey';
};

export type PasskeysAcceptInvitationResponses = {
    /**
     * Done.
     */
    200: PasskeySignInReply;
};

export type PasskeysAcceptInvitationResponse = PasskeysAcceptInvitationResponses[keyof PasskeysAcceptInvitationResponses];

export type InvitationsListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only this organization, of those that you reach. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/users/invitations';
};

export type InvitationsListResponses = {
    /**
     * Done.
     */
    200: InvitationListReply;
};

export type InvitationsListResponse = InvitationsListResponses[keyof InvitationsListResponses];

export type InvitationsCreateData = {
    body: InviteDto;
    path?: never;
    query?: never;
    url: '/api/v1/users/invitations';
};

export type InvitationsCreateResponses = {
    /**
     * Made.
     */
    201: NewInvitationReply;
};

export type InvitationsCreateResponse = InvitationsCreateResponses[keyof InvitationsCreateResponses];

export type InvitationsVoidData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/users/invitations/{id}';
};

export type InvitationsVoidResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type InvitationsVoidResponse = InvitationsVoidResponses[keyof InvitationsVoidResponses];

export type UsersListData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How many entries to return.
         */
        limit?: number;
        /**
         * How many entries to skip. Beyond that, follow `nextCursor`.
         */
        offset?: number;
        /**
         * The `nextCursor` of the page before. Together with `offset` it is refused with 400.
         */
        cursor?: string;
        /**
         * Only this role.
         */
        role?: 'viewer' | 'member' | 'admin' | 'owner';
        /**
         * Only this status. Default `active`.
         */
        status?: 'active' | 'deleted' | 'erased';
        /**
         * Only this organization, of those that you reach. Also accepted as `organization_id`.
         */
        organizationId?: string;
    };
    url: '/api/v1/users';
};

export type UsersListResponses = {
    /**
     * Done.
     */
    200: UserListReply;
};

export type UsersListResponse = UsersListResponses[keyof UsersListResponses];

export type UsersCreateData = {
    body: MakeUserDto;
    path?: never;
    query?: never;
    url: '/api/v1/users';
};

export type UsersCreateResponses = {
    /**
     * Made.
     */
    201: UserEnvelope;
};

export type UsersCreateResponse = UsersCreateResponses[keyof UsersCreateResponses];

export type UsersMeData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/v1/users/me';
};

export type UsersMeResponses = {
    /**
     * Done.
     */
    200: UserEnvelope;
};

export type UsersMeResponse = UsersMeResponses[keyof UsersMeResponses];

export type UsersCloseData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/users/{id}';
};

export type UsersCloseResponses = {
    /**
     * Done; there is nothing to say.
     */
    204: void;
};

export type UsersCloseResponse = UsersCloseResponses[keyof UsersCloseResponses];

export type UsersGetData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/users/{id}';
};

export type UsersGetResponses = {
    /**
     * Done.
     */
    200: UserEnvelope;
};

export type UsersGetResponse = UsersGetResponses[keyof UsersGetResponses];

export type UsersUpdateData = {
    body?: UpdateUserDto;
    path: {
        id: string;
    };
    query?: never;
    url: '/api/v1/users/{id}';
};

export type UsersUpdateResponses = {
    /**
     * Done.
     */
    200: UserEnvelope;
};

export type UsersUpdateResponse = UsersUpdateResponses[keyof UsersUpdateResponses];

/**
 * Every operation by its method and path: what it takes, and what it answers by status.
 */
export interface Operations {
    'GET /health': { data: HealthCheckData; replies: HealthCheckResponses };
    'GET /health/live': { data: HealthLiveData; replies: HealthLiveResponses };
    'GET /health/ready': { data: HealthReadyData; replies: HealthReadyResponses };
    'POST /api/v1/execute': { data: ExecutionsExecuteData; replies: ExecutionsExecuteResponses };
    'GET /api/v1/executions': { data: ExecutionsListData; replies: ExecutionsListResponses };
    'POST /api/v1/executions': { data: ExecutionsCreateData; replies: ExecutionsCreateResponses };
    'GET /api/v1/hitl': { data: HitlListData; replies: HitlListResponses };
    'POST /api/v1/hitl': { data: HitlCreateData; replies: HitlCreateResponses };
    'GET /api/v1/organizations': { data: OrganizationsListData; replies: OrganizationsListResponses };
    'POST /api/v1/organizations': { data: OrganizationsCreateData; replies: OrganizationsCreateResponses };
    'GET /api/v1/organizations/{id}': { data: OrganizationsGetData; replies: OrganizationsGetResponses };
    'PATCH /api/v1/organizations/{id}': { data: OrganizationsUpdateData; replies: OrganizationsUpdateResponses };
    'GET /api/v1/users/{id}/keys': { data: PersonalKeysListData; replies: PersonalKeysListResponses };
    'POST /api/v1/users/{id}/keys': { data: PersonalKeysCreateData; replies: PersonalKeysCreateResponses };
    'DELETE /api/v1/users/{id}/keys/{keyId}': { data: PersonalKeysRevokeData; replies: PersonalKeysRevokeResponses };
    'GET /api/v1/teams': { data: TeamsListData; replies: TeamsListResponses };
    'POST /api/v1/teams': { data: TeamsCreateData; replies: TeamsCreateResponses };
    'GET /api/v1/teams/{id}': { data: TeamsGetData; replies: TeamsGetResponses };
    'PATCH /api/v1/teams/{id}': { data: TeamsUpdateData; replies: TeamsUpdateResponses };
    'DELETE /api/v1/teams/{id}': { data: TeamsRemoveData; replies: TeamsRemoveResponses };
    'POST /api/v1/teams/{id}/members': { data: TeamsAddMemberData; replies: TeamsAddMemberResponses };
    'DELETE /api/v1/teams/{id}/members/{userId}': { data: TeamsRemoveMemberData; replies: TeamsRemoveMemberResponses };
    'GET /api/v1/capabilities': { data: CapabilitiesListData; replies: CapabilitiesListResponses };
    'POST /api/v1/capabilities': { data: CapabilitiesDefineData; replies: CapabilitiesDefineResponses };
    'PATCH /api/v1/capabilities/{name}': { data: CapabilitiesUpdateData; replies: CapabilitiesUpdateResponses };
    'DELETE /api/v1/capabilities/{name}': { data: CapabilitiesRemoveData; replies: CapabilitiesRemoveResponses };
    'GET /api/v1/secrets': { data: SecretsListData; replies: SecretsListResponses };
    'PUT /api/v1/secrets/{secret}': { data: SecretsPutData; replies: SecretsPutResponses };
    'DELETE /api/v1/secrets/{secret}': { data: SecretsRemoveData; replies: SecretsRemoveResponses };
    'GET /api/v1/agents': { data: AgentsListData; replies: AgentsListResponses };
    'POST /api/v1/agents': { data: AgentsRegisterData; replies: AgentsRegisterResponses };
    'GET /api/v1/agents/{id}': { data: AgentsGetData; replies: AgentsGetResponses };
    'PATCH /api/v1/agents/{id}': { data: AgentsUpdateData; replies: AgentsUpdateResponses };
    'DELETE /api/v1/agents/{id}': { data: AgentsRemoveData; replies: AgentsRemoveResponses };
    'PATCH /api/v1/agents/{id}/risk-level': { data: AgentsSetRiskLevelData; replies: AgentsSetRiskLevelResponses };
    'POST /api/v1/agents/{id}/deactivate': { data: AgentsDeactivateData; replies: AgentsDeactivateResponses };
    'POST /api/v1/agents/{id}/activate': { data: AgentsActivateData; replies: AgentsActivateResponses };
    'POST /api/v1/agents/{id}/token': { data: AgentsIssueTokenData; replies: AgentsIssueTokenResponses };
    'POST /api/v1/agents/{id}/token/refresh': { data: AgentsRefreshTokenData; replies: AgentsRefreshTokenResponses };
    'DELETE /api/v1/agents/{id}/tokens': { data: AgentsRevokeTokensData; replies: AgentsRevokeTokensResponses };
    'GET /api/v1/agents/{id}/keys': { data: AgentKeysListData; replies: AgentKeysListResponses };
    'POST /api/v1/agents/{id}/keys': { data: AgentKeysCreateData; replies: AgentKeysCreateResponses };
    'DELETE /api/v1/agents/{id}/keys/{keyId}': { data: AgentKeysDeleteData; replies: AgentKeysDeleteResponses };
    'POST /api/v1/agents/token': { data: AgentKeysExchangeData; replies: AgentKeysExchangeResponses };
    'POST /api/v1/capabilities/grant': { data: GrantsCreateData; replies: GrantsCreateResponses };
    'GET /api/v1/agents/{id}/capabilities': { data: GrantsListOfAgentData; replies: GrantsListOfAgentResponses };
    'POST /api/v1/agents/{id}/capabilities': { data: GrantsCreateForAgentData; replies: GrantsCreateForAgentResponses };
    'PATCH /api/v1/agents/{id}/capabilities/{capability}': { data: GrantsConfigureData; replies: GrantsConfigureResponses };
    'GET /api/v1/capabilities/grants': { data: GrantsListData; replies: GrantsListResponses };
    'DELETE /api/v1/capabilities/grant/{id}': { data: GrantsRevokeData; replies: GrantsRevokeResponses };
    'POST /api/v1/agents/{id}/setup-token': { data: NodesIssueSetupTokenData; replies: NodesIssueSetupTokenResponses };
    'POST /api/v1/node/activate': { data: NodesActivateData; replies: NodesActivateResponses };
    'GET /api/v1/executions/{id}': { data: ExecutionsGetData; replies: ExecutionsGetResponses };
    'POST /api/v1/executions/{id}/report': { data: ExecutionsReportData; replies: ExecutionsReportResponses };
    'POST /api/v1/executions/{id}/settle': { data: ExecutionsSettleData; replies: ExecutionsSettleResponses };
    'GET /api/v1/hitl/stats': { data: HitlStatsData; replies: HitlStatsResponses };
    'GET /api/v1/hitl/check-timeouts': { data: HitlCheckTimeoutsByGetData; replies: HitlCheckTimeoutsByGetResponses };
    'POST /api/v1/hitl/check-timeouts': { data: HitlCheckTimeoutsData; replies: HitlCheckTimeoutsResponses };
    'GET /api/v1/hitl/{id}': { data: HitlGetData; replies: HitlGetResponses };
    'POST /api/v1/hitl/batch': { data: HitlDecideBatchData; replies: HitlDecideBatchResponses };
    'POST /api/v1/hitl/{id}/approve': { data: HitlApproveData; replies: HitlApproveResponses };
    'POST /api/v1/hitl/{id}/reject': { data: HitlRejectData; replies: HitlRejectResponses };
    'POST /api/v1/hitl/{id}/escalate': { data: HitlEscalateData; replies: HitlEscalateResponses };
    'POST /api/v1/hitl/{id}/cancel': { data: HitlCancelData; replies: HitlCancelResponses };
    'POST /api/v1/hitl/{id}/timeout': { data: HitlTimeoutData; replies: HitlTimeoutResponses };
    'POST /api/v1/executions/{id}/cancel': { data: ExecutionsCancelData; replies: ExecutionsCancelResponses };
    'POST /api/v1/agents/{id}/transfer': { data: AgentsTransferData; replies: AgentsTransferResponses };
    'GET /api/v1/stops': { data: StopsListData; replies: StopsListResponses };
    'POST /api/v1/stops': { data: StopsCreateData; replies: StopsCreateResponses };
    'GET /api/v1/stops/{id}': { data: StopsGetData; replies: StopsGetResponses };
    'DELETE /api/v1/stops/{id}': { data: StopsLiftData; replies: StopsLiftResponses };
    'GET /api/v1/audit/keys': { data: AuditKeysData; replies: AuditKeysResponses };
    'GET /api/v1/audit/checkpoints': { data: AuditCheckpointsData; replies: AuditCheckpointsResponses };
    'GET /api/v1/audit/{id}/proof': { data: AuditProofData; replies: AuditProofResponses };
    'GET /api/v1/audit/erasures': { data: ErasuresListData; replies: ErasuresListResponses };
    'POST /api/v1/audit/erasures': { data: ErasuresCreateData; replies: ErasuresCreateResponses };
    'POST /api/v1/audit/erasures/{id}/confirm': { data: ErasuresConfirmData; replies: ErasuresConfirmResponses };
    'DELETE /api/v1/users/{id}/data': { data: UsersEraseDataData; replies: UsersEraseDataResponses };
    'GET /api/v1/audit': { data: AuditListData; replies: AuditListResponses };
    'GET /api/v1/audit/verify': { data: AuditVerifyData; replies: AuditVerifyResponses };
    'GET /api/v1/audit/{id}': { data: AuditGetData; replies: AuditGetResponses };
    'GET /internal/v1/tenants': { data: TenantsListData; replies: TenantsListResponses };
    'POST /internal/v1/tenants': { data: TenantsCreateData; replies: TenantsCreateResponses };
    'GET /internal/v1/tenants/{id}': { data: TenantsGetData; replies: TenantsGetResponses };
    'PATCH /internal/v1/tenants/{id}': { data: TenantsUpdateData; replies: TenantsUpdateResponses };
    'DELETE /internal/v1/tenants/{id}': { data: TenantsRemoveData; replies: TenantsRemoveResponses };
    'PUT /internal/v1/tenants/{id}/subscription': { data: TenantsSubscribeData; replies: TenantsSubscribeResponses };
    'GET /internal/v1/tenants/{id}/usage': { data: TenantsUsageData; replies: TenantsUsageResponses };
    'POST /internal/v1/auth/verify': { data: InternalAuthVerifyTokenData; replies: InternalAuthVerifyTokenResponses };
    'GET /api/v1/notifications/config/{channel}': { data: ChannelsGetData; replies: ChannelsGetResponses };
    'PUT /api/v1/notifications/config/{channel}': { data: ChannelsSetData; replies: ChannelsSetResponses };
    'DELETE /api/v1/notifications/config/{channel}': { data: ChannelsRemoveData; replies: ChannelsRemoveResponses };
    'POST /api/v1/notifications/config/{channel}/test': { data: ChannelsTestData; replies: ChannelsTestResponses };
    'GET /api/v1/notifications/deliveries': { data: DeliveriesListData; replies: DeliveriesListResponses };
    'POST /api/v1/notifications/deliveries/{id}/retry': { data: DeliveriesRetryData; replies: DeliveriesRetryResponses };
    'GET /api/v1/notifications/chat-accounts': { data: ChatAccountsListData; replies: ChatAccountsListResponses };
    'DELETE /api/v1/notifications/chat-accounts/{id}': { data: ChatAccountsRemoveData; replies: ChatAccountsRemoveResponses };
    'GET /api/v1/notifications': { data: InboxListData; replies: InboxListResponses };
    'POST /api/v1/notifications/{id}/read': { data: InboxReadData; replies: InboxReadResponses };
    'POST /api/v1/node/heartbeat': { data: NodesHeartbeatData; replies: NodesHeartbeatResponses };
    'POST /api/v1/node/tasks/lease': { data: NodesLeaseData; replies: NodesLeaseResponses };
    'POST /api/v1/node/tasks/{executionId}/start': { data: NodesStartData; replies: NodesStartResponses };
    'POST /api/v1/node/tasks/{executionId}/result': { data: NodesResultData; replies: NodesResultResponses };
    'GET /api/v1/llm/models': { data: LlmModelsData; replies: LlmModelsResponses };
    'GET /api/v1/llm/v1/models': { data: LlmModelsByOtherPathData; replies: LlmModelsByOtherPathResponses };
    'POST /api/v1/llm/chat': { data: LlmChatData; replies: LlmChatResponses };
    'POST /api/v1/llm/scan': { data: LlmScanData; replies: LlmScanResponses };
    'GET /api/v1/llm/usage': { data: LlmUsageData; replies: LlmUsageResponses };
    'POST /api/v1/routing/resolve': { data: RoutingResolveData; replies: RoutingResolveResponses };
    'POST /api/v1/routing/delegate': { data: RoutingDelegateData; replies: RoutingDelegateResponses };
    'GET /api/v1/routing/log': { data: RoutingLogData; replies: RoutingLogResponses };
    'GET /api/v1/tasks': { data: TasksListData; replies: TasksListResponses };
    'GET /api/v1/tasks/{id}': { data: TasksGetData; replies: TasksGetResponses };
    'POST /api/v1/tasks/{id}/cancel': { data: TasksCancelData; replies: TasksCancelResponses };
    'GET /api/v1/auth/me': { data: AuthMeData; replies: AuthMeResponses };
    'GET /api/v1/auth/sessions': { data: SessionsListData; replies: SessionsListResponses };
    'DELETE /api/v1/auth/sessions/{id}': { data: SessionsEndData; replies: SessionsEndResponses };
    'POST /api/v1/auth/logout': { data: AuthLogoutData; replies: AuthLogoutResponses };
    'PUT /api/v1/auth/password': { data: AuthChangePasswordData; replies: AuthChangePasswordResponses };
    'POST /api/v1/auth/passkey/options': { data: PasskeysSignInOptionsData; replies: PasskeysSignInOptionsResponses };
    'POST /api/v1/auth/passkey': { data: PasskeysSignInData; replies: PasskeysSignInResponses };
    'GET /api/v1/auth/passkeys': { data: PasskeysListData; replies: PasskeysListResponses };
    'POST /api/v1/auth/passkeys': { data: PasskeysAddData; replies: PasskeysAddResponses };
    'POST /api/v1/auth/passkeys/options': { data: PasskeysAddOptionsData; replies: PasskeysAddOptionsResponses };
    'DELETE /api/v1/auth/passkeys/{id}': { data: PasskeysRemoveData; replies: PasskeysRemoveResponses };
    'POST /api/v1/auth/invitations/{token}/passkey/options': { data: PasskeysInvitationOptionsData; replies: PasskeysInvitationOptionsResponses };
    'POST /api/v1/auth/invitations/{token}/passkey': { data: PasskeysAcceptInvitationData; replies: PasskeysAcceptInvitationResponses };
    'GET /api/v1/users/invitations': { data: InvitationsListData; replies: InvitationsListResponses };
    'POST /api/v1/users/invitations': { data: InvitationsCreateData; replies: InvitationsCreateResponses };
    'DELETE /api/v1/users/invitations/{id}': { data: InvitationsVoidData; replies: InvitationsVoidResponses };
    'GET /api/v1/users': { data: UsersListData; replies: UsersListResponses };
    'POST /api/v1/users': { data: UsersCreateData; replies: UsersCreateResponses };
    'GET /api/v1/users/me': { data: UsersMeData; replies: UsersMeResponses };
    'GET /api/v1/users/{id}': { data: UsersGetData; replies: UsersGetResponses };
    'PATCH /api/v1/users/{id}': { data: UsersUpdateData; replies: UsersUpdateResponses };
    'DELETE /api/v1/users/{id}': { data: UsersCloseData; replies: UsersCloseResponses };
}
