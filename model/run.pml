/*
 * Second half of the protocol: how what was approved runs. It begins where the first half ends: there, a request is decided once
 * and nothing changes it afterwards; so here the decision is one step. Three servers over one database, which may crash or freeze
 * anywhere, and come back; every interleaving. docs/protocol.md says which code each step is; `npm run model` checks it.
 *
 * Claims on rows of the outbox are not in it: any server may take up any row at any time, which is more than a claim lets happen.
 *
 * Guards, to be taken out:
 *   NO_HEAD_LOCK  the head's lock, and the row's behind it       NO_EXEC_CAS  the execution compared when it begins or is taken over
 *   NO_FENCE      the attempt compared when it is closed         NO_LEASE     recovery waits for the lease
 *   NO_ASKING     the gate asked again when it begins            NO_KEY       every attempt sends the execution's key
 *   NO_OUTBOX     the row stays until the start is committed     NO_RECOVERY  recovery
 *   ALWAYS_RETRY  only what is declared idempotent is tried again   NO_STATUS  the request looked at when it begins
 *   EARLY_ROW     the row of the outbox is written by the approval
 */

mtype = { waiting, running, executed, indeterminate, cancelled };
mtype = { undecided, approved, ended };

#define ATTEMPTS 3
#define CRASHES 3

/* Each claim is asserted where it could break. ONLY=n leaves the others out, to see which guard holds which claim. */
#ifndef ONLY
#define ONLY 0
#endif
#define CLAIM(number, holds) if :: ((ONLY != 0 && ONLY != number) || (holds)) -> skip :: else -> assert(!(number)) fi
/* claim 1: at most one run: one receipt, or one key where that is declared the same */
/* claim 2: nothing runs unapproved */
/* claim 3: nothing begins after its authority was withdrawn */
/* claim 4: one end, and only whoever holds the fence writes an answer there */
/* claim 5: an answer within the lease is what the execution says */
/* claim 6: no attempt has two callers */
/* claim 7: what is said to have run has run, what is said not to have has not */

bit idempotent;         /* the connector declares that a repeated key does nothing twice */
/* The request, and the row of the outbox that asks for the run. */
mtype request = undecided;
bit queued;
/* The execution's row. */
mtype execution = waiting;
byte attempt;           /* the fence: 0 before it begins */
bit lease_over;         /* of the present attempt */
bit authority = 1;
bit head;
byte crashes;
/* For the claims: what the receiver saw, by attempt and by key, and how often the execution ended. */
byte receipts;
byte acts;
bit called[4];
bit known[4];
byte ends;

#ifdef NO_HEAD_LOCK
#define HEAD_FREE true
#define TAKE skip
#define LET_GO skip
#else
#define HEAD_FREE (!head)
#define TAKE head = 1
#define LET_GO head = 0
#endif
#ifdef NO_EXEC_CAS
#define STILL(state) true
#define STILL_ATTEMPT true
#else
#define STILL(state) (execution == state)
#define STILL_ATTEMPT (attempt == seen_attempt)
#endif
#ifdef NO_FENCE
#define MINE true
#else
#define MINE (attempt == mine)
#endif
#ifdef NO_LEASE
#define LEASE_OVER true
#else
#define LEASE_OVER lease_over
#endif
#ifdef NO_ASKING
#define MAY_RUN true
#else
#define MAY_RUN seen_authority
#endif
#ifdef ALWAYS_RETRY
#define MAY_REPEAT true
#else
#define MAY_REPEAT idempotent
#endif
#ifdef NO_STATUS
#define IS_APPROVED true
#else
#define IS_APPROVED (request == approved)
#endif
#ifdef NO_KEY
#define KEY mine
#else
#define KEY 1
#endif
#define is_over (execution == executed || execution == indeterminate || execution == cancelled)

inline end_as(how) {
  execution = how;
  ends = ends + 1;
  CLAIM(4, ends == 1);
  CLAIM(7, how != cancelled || receipts == 0)
}

/* This server calls: under the number that it was given. */
inline call_as(number) {
  CLAIM(2, request == approved);
  CLAIM(3, authority);
  execution = running;
  attempt = number;
  lease_over = 0;
  mine = number;
  phase = 1
}

inline forget() { phase = 0; mine = 0; seen = 0; seen_attempt = 0; seen_authority = 0; seen_over = 0; recovers = 0 }

/* A crash forgets what the server was about; its transaction is rolled back. */
inline crash() {
  crashes++;
  if
  :: phase == 4 -> LET_GO
  :: else -> skip
  fi;
  forget()
}

/* Phases: 0 looks for work, 4 in a transaction, 1 it is committed, 2 the row of the outbox is done, 3 the call has gone out. */
proctype Server() {
  byte phase;
  byte mine;
  mtype seen;
  byte seen_attempt;
  bit seen_authority;
  bit seen_over;
  bit recovers;
  do
  /* The worker: lock and read; then compare, write and commit. */
  :: atomic { phase == 0 && queued && HEAD_FREE -> TAKE; recovers = 0; seen = execution; seen_authority = authority; phase = 4 }
#ifdef NO_OUTBOX
     ; queued = 0
#endif
  :: d_step { phase == 4 && !recovers ->
       if
       :: seen == waiting && STILL(waiting) && IS_APPROVED && MAY_RUN -> call_as(1)
       :: seen == waiting && STILL(waiting) && IS_APPROVED && !MAY_RUN -> end_as(cancelled); phase = 1
       :: else -> phase = 1                                     /* begun before, or ended: only the row is left to do */
       fi;
       LET_GO; seen = 0; seen_authority = 0
     }
  :: d_step { phase == 1 ->
       queued = 0;
       if
       :: mine > 0 -> phase = 2
       :: else -> phase = 0
       fi
     }
  /* The call: outside of any transaction. */
  :: d_step { phase == 2 ->
       receipts = receipts + 1;
       CLAIM(2, request == approved);
       CLAIM(6, !called[mine]);
       called[mine] = 1;
       if
       :: !idempotent -> acts = acts + 1
       :: idempotent && !known[KEY] -> known[KEY] = 1; acts = acts + 1
       :: else -> skip
       fi;
       CLAIM(1, acts == 1);
       phase = 3
     }
  /* Its answer: compared and written in one statement, under the lock. */
  :: d_step { phase == 3 && HEAD_FREE ->
       if
       :: execution == running && MINE -> CLAIM(4, attempt == mine); CLAIM(7, receipts > 0); end_as(executed)
       :: else -> CLAIM(5, attempt != mine || lease_over)       /* somebody was first: told beside, as late */
       fi;
       forget()
     }
#ifndef NO_RECOVERY
  /* Recovery, on every server: what is past its lease is tried again under a new number where that is declared, else indeterminate. */
  :: atomic { phase == 0 && execution == running && LEASE_OVER && HEAD_FREE ->
       TAKE; recovers = 1; seen = execution; seen_attempt = attempt; seen_over = LEASE_OVER; seen_authority = authority; phase = 4 }
  :: d_step { phase == 4 && recovers ->
       if
       :: seen == running && seen_over && STILL(running) && STILL_ATTEMPT ->
          if
          :: MAY_REPEAT && MAY_RUN && seen_attempt < ATTEMPTS -> call_as(seen_attempt + 1); phase = 2
          :: else -> end_as(indeterminate); phase = 0
          fi
       :: else -> phase = 0
       fi;
       LET_GO; seen = 0; seen_attempt = 0; seen_authority = 0; seen_over = 0; recovers = 0
     }
#endif
  :: d_step { phase != 0 && crashes < CRASHES -> crash() }
  :: phase == 0 && (is_over || request == ended) && !queued -> break
  od
}

/* The decision, which the first half is about. */
proctype Decision() {
  atomic {
    HEAD_FREE ->
    if
    :: request = approved; queued = 1
    :: request = ended; end_as(cancelled)
    fi
  }
}

/* Grant revoked, agent deactivated, a stop: the last two also end what was approved and has not begun. */
proctype Withdrawal() {
  atomic {
    HEAD_FREE ->
    authority = 0;
    if
    :: request == approved && execution == waiting -> end_as(cancelled)
    :: true -> skip
    fi
  }
}

/* Time. */
proctype Lease() {
  do
  :: execution == running && !lease_over -> lease_over = 1
  :: is_over -> break
  od
}

init {
  atomic {
    if
    :: idempotent = 0
    :: idempotent = 1
    fi;
#ifdef EARLY_ROW
    queued = 1;
#endif
    run Decision();
    run Withdrawal();
    run Lease();
    run Server();
    run Server();
    run Server()
  }
}

#ifdef LIVENESS
ltl every_approval_ends { <> (is_over) }
#endif
