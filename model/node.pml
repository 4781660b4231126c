/*
 * Third part of the protocol: how a node does what began. It begins where an execution is running and its work is to be queued. Two
 * servers over one database, two nodes of one agent, all of which may crash, freeze or stop anywhere, and come back; every interleaving.
 * Which server a node calls makes no difference: a call is a transaction. docs/protocol.md says which code each step is.
 *
 * Guards, to be taken out:
 *   NO_HEAD_LOCK    the head's lock                              NO_ROW_LOCK     the work's row is locked from its reading on
 *   NO_START_CAS    the work compared when it is started         NO_WITHDRAW_CAS the work compared when it is withdrawn
 *   NO_FENCE        the lease compared at start and result       NO_ASKING       the gate asked again when a node starts
 *   TWO_COMMITS     a result closes the execution in its commit  ALWAYS_RETRY    only what is declared idempotent begins again
 *   FORGETFUL       recovery remembers that it had begun before  ANY_BEGINNING   a fallback serves the first beginning alone
 *   NO_RECOVERY     recovery
 */

mtype = { running, executed, failed, indeterminate };
mtype = { absent, queued, leased, started, answered, withdrawn };

#define ATTEMPTS 2
#define LEASES 3
#define CRASHES 2

/* Each claim is asserted where it could break. ONLY=n leaves the others out, to see which guard holds which claim. */
#ifndef ONLY
#define ONLY 0
#endif
#define CLAIM(number, holds) if :: ((ONLY != 0 && ONLY != number) || (holds)) -> skip :: else -> assert(!(number)) fi
/* claim 1: nothing is done twice, but under one key where that is declared the same */
/* claim 2: a fallback has only what no node has started, and a node only what no fallback has */
/* claim 3: nothing starts after its authority was withdrawn */
/* claim 4: one end, and only the newest lease starts and answers */
/* claim 5: an input is handed out once for each beginning */
/* claim 6: of a result that was taken it is never said that nobody knows */
/* claim 7: what is said to have been done was done, what is said to have failed was not */

bit idempotent;         /* the connector declares that a repeated key does nothing twice */
bit yields;             /* there is a fallback */
/* The execution's row. */
mtype execution = running;
byte attempt = 1;
bit lease_over;         /* of the present beginning */
/* The work's row. */
mtype work = absent;
byte fence;
byte of_attempt;
bit lease_out;          /* of the present lease */
bit begun;              /* the newest lease was started */
bit authority = 1;
bit head;
bit row;
byte crashes;
/* For the claims: what was done, by whom, and what was handed out. */
byte acts;
bit by_node;
bit by_fallback;
bit handed[ATTEMPTS + 1];
byte ends;

#ifdef NO_HEAD_LOCK
#define HEAD_FREE true
#define TAKE_HEAD skip
#define LET_HEAD_GO skip
#else
#define HEAD_FREE (!head)
#define TAKE_HEAD head = 1
#define LET_HEAD_GO head = 0
#endif
#ifdef NO_ROW_LOCK
#define ROW_FREE true
#define TAKE_ROW skip
#define LET_ROW_GO skip
#else
#define ROW_FREE (!row)
#define TAKE_ROW row = 1
#define LET_ROW_GO row = 0
#endif
#ifdef NO_FENCE
#define MINE true
#define SEEN_MINE true
#else
#define MINE (fence == mine)
#define SEEN_MINE (seen_fence == mine)
#endif
#ifdef NO_START_CAS
#define LEASE_HOLDS true
#else
#define LEASE_HOLDS (work == leased && MINE && !lease_out)
#endif
#define is_waiting (work == queued || work == leased)
#ifdef NO_WITHDRAW_CAS
#define CAN_WITHDRAW true
#else
#define CAN_WITHDRAW (of_attempt == mine && is_waiting)
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
#ifdef FORGETFUL
#define HAD (work == started)
#else
#define HAD (work == started || work == answered || attempt > 1)
#endif
#ifdef ANY_BEGINNING
#define SERVES yields
#else
#define SERVES (yields && mine == 1)
#endif
#define is_over (execution != running)
#define is_at (execution == running && attempt == of_attempt)

inline end_as(how) {
  CLAIM(6, how != indeterminate || !(work == answered && of_attempt == attempt));
  CLAIM(7, how != executed || acts > 0);
  CLAIM(7, how != failed || acts == 0);
  execution = how;
  ends = ends + 1;
  CLAIM(4, ends == 1)
}

inline forget() { phase = 0; mine = 0; seen = 0; seen_fence = 0; seen_authority = 0; seen_at = 0 }

/* Phases: 0 looks for what was left behind, 1 is to queue, 2 waits, 3 withdraws, 4 recovers, 5 and 6 the fallback, 7 to 9 close. */
proctype Server(byte mine) {
  byte phase = mine;
  byte seen; byte seen_fence; bit seen_authority; bit seen_at;
  do
  :: d_step { phase == 1 && ROW_FREE ->
       if
       :: of_attempt < mine && work != answered -> work = queued; of_attempt = mine; lease_out = 0
       :: else -> skip
       fi;
       phase = 2
     }
  :: d_step { phase == 2 && (is_over || attempt != mine || of_attempt != mine) -> forget() }     /* closed elsewhere, or begun again */
  :: phase == 2 && !is_over && of_attempt == mine && is_waiting -> phase = 3
  :: d_step { phase == 3 && ROW_FREE ->
       if
       :: CAN_WITHDRAW ->
          work = withdrawn;
          if
          :: SERVES -> phase = 5
          :: else -> phase = 7
          fi
       :: else -> phase = 2
       fi
     }
  :: d_step { phase == 2 && !is_over && of_attempt == mine && work == started && !(idempotent && attempt < ATTEMPTS) -> phase = 8 }
  /* The call of the fallback: outside of any transaction. */
  :: d_step { phase == 5 -> by_fallback = 1; acts = acts + 1; CLAIM(2, !by_node); CLAIM(1, acts == 1); phase = 6 }
  /* Closing: compared and written in one statement, under the lock. */
  :: d_step { phase == 6 && HEAD_FREE ->
       if
       :: !is_over && attempt == mine -> end_as(executed)
       :: else -> skip                                          /* told beside, as late */
       fi;
       forget()
     }
  :: d_step { phase == 7 && HEAD_FREE ->
       if
       :: !is_over && attempt == mine && mine == 1 -> end_as(failed)
       :: !is_over && attempt == mine && mine > 1 -> end_as(indeterminate)
       :: else -> skip
       fi;
       forget()
     }
  :: d_step { phase == 8 && HEAD_FREE ->
       if
       :: !is_over && attempt == mine -> end_as(indeterminate)
       :: else -> skip
       fi;
       forget()
     }
#ifndef NO_RECOVERY
  :: atomic { phase == 0 && !is_over && lease_over && HEAD_FREE && ROW_FREE -> TAKE_HEAD; TAKE_ROW; seen_authority = authority; phase = 4 }
  :: d_step { phase == 4 ->
       if
       :: is_over -> phase = 0
       :: !is_over && work == withdrawn && yields -> end_as(indeterminate); phase = 0
       :: !is_over && !(work == withdrawn && yields) && HAD ->
          if
          :: is_waiting -> work = withdrawn
          :: else -> skip
          fi;
          if
          :: MAY_REPEAT && MAY_RUN && attempt < ATTEMPTS -> attempt = attempt + 1; lease_over = 0; mine = attempt; phase = 1
          :: else -> end_as(indeterminate); phase = 0
          fi
       :: !is_over && !(work == withdrawn && yields) && !HAD ->
          if
          :: is_waiting -> work = withdrawn
          :: else -> skip
          fi;
          end_as(failed); phase = 0
       fi;
       LET_HEAD_GO; LET_ROW_GO; seen_authority = 0
     }
#endif
  /* A crash forgets what the server was about; its transaction is rolled back. A stop is one. */
  :: d_step { phase != 0 && crashes < CRASHES ->
       crashes++;
       if
       :: phase == 4 -> LET_HEAD_GO; LET_ROW_GO
       :: else -> skip
       fi;
       forget()
     }
  :: phase == 0 && is_over -> break
  od
}

/* Phases: 0 polls, 1 has a lease, 4 is starting it, 2 is to act, 3 is to answer, 5 has answered and not closed yet. */
proctype Node() {
  byte phase; byte mine;
  byte seen; byte seen_fence; bit seen_authority; bit seen_at;
  do
  :: d_step { phase == 0 && ROW_FREE && is_at && fence < LEASES && (work == queued || (work == leased && lease_out)) ->
       work = leased; fence = fence + 1; lease_out = 0; begun = 0; mine = fence; phase = 1
     }
  /*
   * The start: lock and read; then ask, compare, write and commit. In a batch it is asked before, by facts whose revisions are compared
   * under the lock: the same, since whoever withdraws authority raises a revision under it.
   */
  :: atomic { phase == 1 && HEAD_FREE && ROW_FREE ->
       TAKE_HEAD; TAKE_ROW; seen = work; seen_fence = fence; seen_authority = authority; seen_at = is_at; phase = 4
     }
  :: d_step { phase == 4 ->
       if
       :: seen == leased && SEEN_MINE && seen_at && !MAY_RUN ->
          work = withdrawn;
          if
          :: attempt == 1 -> end_as(failed)
          :: else -> end_as(indeterminate)
          fi;
          phase = 0
       :: seen == leased && SEEN_MINE && seen_at && MAY_RUN && LEASE_HOLDS ->
          CLAIM(2, !by_fallback);
          CLAIM(3, authority);
          CLAIM(4, fence == mine);
          CLAIM(5, !handed[attempt]);
          handed[attempt] = 1; work = started; begun = 1; phase = 2
       :: else -> phase = 0
       fi;
       LET_HEAD_GO; LET_ROW_GO; seen = 0; seen_fence = 0; seen_authority = 0; seen_at = 0
     }
  /* The action, under the execution's key. */
  :: d_step { phase == 2 ->
       if
       :: idempotent && by_node -> skip
       :: else -> acts = acts + 1
       fi;
       by_node = 1;
       CLAIM(1, acts == 1);
       phase = 3
     }
  :: d_step { phase == 3 && HEAD_FREE && ROW_FREE ->
       if
       :: begun && work != answered && MINE ->                  /* also where it has begun again, and nobody has leased that */
          CLAIM(4, fence == mine);
          work = answered;
#ifdef TWO_COMMITS
          phase = 5
#else
          if
          :: !is_over -> end_as(executed)
          :: else -> skip                                       /* told beside, as late */
          fi;
          phase = 0
#endif
       :: else -> phase = 0                                     /* refused: another lease, or over */
       fi
     }
#ifdef TWO_COMMITS
  :: d_step { phase == 5 && HEAD_FREE ->
       if
       :: !is_over -> end_as(executed)
       :: else -> skip
       fi;
       phase = 0
     }
#endif
  :: d_step { phase != 0 && crashes < CRASHES ->
       crashes++;
       if
       :: phase == 4 -> LET_HEAD_GO; LET_ROW_GO
       :: else -> skip
       fi;
       forget()
     }
  :: phase == 0 && is_over -> break
  od
}

/* Grant revoked, agent deactivated, a stop. */
proctype Withdrawal() { atomic { HEAD_FREE -> authority = 0 } }

/* Time: of the lease of the work, and of the execution's. */
proctype Time() {
  do
  :: d_step { work == leased && !lease_out && fence < LEASES -> lease_out = 1 }
  :: d_step { !is_over && !lease_over -> lease_over = 1 }
  :: is_over -> break
  od
}

init {
  atomic {
    if
    :: idempotent = 0
    :: idempotent = 1
    fi;
    if
    :: yields = 0
    :: yields = 1
    fi;
    run Withdrawal();
    run Time();
    run Node();
    run Node();
    run Server(1);
    run Server(0)
  }
}

#ifdef LIVENESS
ltl every_work_ends { <> (is_over) }
#endif
