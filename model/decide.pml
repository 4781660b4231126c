/*
 * First half of the protocol: how a request is decided. Two servers over one database; every interleaving of their transactions,
 * of the window's clock and of crashes. docs/protocol.md says which code each step is; `npm run model` checks it.
 *
 * A transaction is two steps, as in the code: lock the agent's head and read; then compare, write, commit and let go. While the
 * lock holds nobody comes between them. What stands outside of the lock does: time, and a crash, which rolls back.
 *
 * Guards, to be taken out:
 *   NO_HEAD_LOCK  the head's lock, and the row's behind it      NO_CAS    status and version compared by the write
 *   NO_CLOCK      the window compared by the write              NO_EXPIRY  expiry
 *   NO_ASKING     the gate asked again before an approval       NO_VERSION  the digest that a decision names
 *   NO_RANK       the level at which somebody decides           NO_MILDER   the timeout action made milder where time may not approve
 */

mtype = { pending, escalated, approved, rejected, timed_out, cancelled };
mtype = { none, approve, reject, escalate, cancel, edit, trigger, expiry, withdraw, tighten, deactivate };
/* The timeout's action (any at any time: more than one grant has), and what the gate says of the action now. */
mtype = { on_reject, on_approve, on_escalate };
mtype = { allows, asks_admins, refuses };

/* People, by the highest level at which they decide: a member, and two admins. Bits of `votes`. */
#define MEMBER 1
#define ADMIN 2
#define OTHER_ADMIN 4
#define reach(who) (who == MEMBER -> 0 : 2)

/* Each claim is asserted where it could break. ONLY=n leaves the others out, to see which guard holds which claim. */
#ifndef ONLY
#define ONLY 0
#endif
#define CLAIM(number, holds) if :: ((ONLY != 0 && ONLY != number) || (holds)) -> skip :: else -> assert(!(number)) fi
/* claim 1: one end, with one final entry */
/* claim 2: a late click never counts */
/* claim 3: decided by somebody of its level */
/* claim 4: approved as it was shown */
/* claim 5: a quorum is distinct people, and its last vote decides */
/* claim 6: approved only while the gate lets it through */
/* claim 7: no window is cut short */
/* claim 8: time approves only what it may */
/* claim 9: the level only rises */

/* How the request was made. */
bit forced;             /* mode escalate or hardcoded: time never approves it */
bit quorum;             /* two approvals */
/* The request's row. */
mtype status;
byte level;
bit version;            /* of its content: an edit makes another */
byte votes;
bit window_over;
/* What the gate says. */
mtype gate = allows;
/* The chain's head. */
bit head;
/* For the claims: final entries, and what the votes were for. */
byte finals;
bit queued;
bit votes_for;

/* How many commands may still come, of any kind and from anybody; expiry is none. */
#ifndef COMMANDS
#define COMMANDS 5
#endif
byte left = COMMANDS;
bit expired_in_vain;      /* a server died in the middle of an expiry, once */

#define is_open(s) (s == pending || s == escalated)
#define counted(v, l) (((v & MEMBER) && l == 0) + ((v & ADMIN) / ADMIN) + ((v & OTHER_ADMIN) / OTHER_ADMIN))

#ifdef NO_HEAD_LOCK
#define HEAD_FREE true
#define TAKE skip
#define LET_GO skip
#else
#define HEAD_FREE (!head)
#define TAKE head = 1
#define LET_GO head = 0
#endif
#ifdef NO_CAS
#define UNCHANGED true
#else
#define UNCHANGED (status == seen_status && version == seen_version)
#endif
#ifdef NO_CLOCK
#define IN_TIME (!seen_over)
#else
#define IN_TIME (!seen_over && !window_over)
#endif
#ifdef NO_ASKING
#define SEEN_GATE allows
#else
#define SEEN_GATE seen_gate
#endif
#ifdef NO_RANK
#define RANKED true
#else
#define RANKED (reach(who) >= seen_level)
#endif
#ifdef NO_MILDER
#define BY_TIME_ALONE true
#else
#define BY_TIME_ALONE (command == expiry && !forced && !quorum && !seen_version)
#endif
#ifdef NO_VERSION
#define NAMED true
#else
#define NAMED (shown == seen_version)
#endif

/* The end of a request: its row, its count of entries, and what follows. */
inline end_as(to) {
  CLAIM(1, is_open(status) && finals == 0);
  status = to;
  finals = finals + 1;
  if
  :: to == approved -> queued = 1
  :: else -> skip
  fi
}

inline rise_to(next) {
  CLAIM(1, is_open(status));
  CLAIM(9, next > level);
  status = escalated;
  level = next;
  window_over = 0
}

/* A person whose word counts now. */
inline counts_now() {
  CLAIM(2, !window_over);
  CLAIM(3, reach(who) >= level);
  CLAIM(4, shown == version)
}

inline approve_or_vote() {
  if
  :: SEEN_GATE == refuses -> end_as(cancelled)                                /* 409 NOT_EXECUTABLE */
  :: SEEN_GATE == asks_admins && !forced && reach(who) < 2 -> rise_to(2)       /* 409, and an admin is asked */
  :: else ->
     counts_now();
     if
     :: quorum && (seen_votes & who) -> skip                                  /* 409: nobody counts twice */
     :: quorum && !(seen_votes & who) && counted((seen_votes | who), seen_level) < 2 ->
        votes = votes | who;
        votes_for = shown;
        CLAIM(5, counted(votes, level) < 2)
     :: else ->
        CLAIM(5, !quorum || (counted((votes | who), level) >= 2 && votes_for == version));
        CLAIM(6, gate == allows || (gate == asks_admins && (forced || reach(who) == 2)));
        end_as(approved)
     fi
  fi
}

/* The window's end, or a hand that pulls the trigger, by the action that may be applied. */
inline time_out() {
  if
  :: command == expiry -> CLAIM(7, window_over)
  :: else -> skip
  fi;
  if
  :: timeout_action == on_approve && BY_TIME_ALONE ->
     if
     :: SEEN_GATE == allows ->
        CLAIM(6, gate == allows);
        CLAIM(8, !forced && !quorum && !version && command == expiry);
        end_as(approved)
     :: else -> end_as(cancelled)
     fi
  :: timeout_action == on_escalate && seen_level < 2 -> rise_to(seen_level + 1)
  :: else -> end_as(timed_out)
  fi
}

inline forget() {
  command = none; who = 0; shown = 0; timeout_action = none;
  seen_status = 0; seen_level = 0; seen_version = 0; seen_over = 0; seen_votes = 0; seen_gate = 0
}

/* One server takes up one thing after the other. What waits for the lock has changed nothing yet, so waiting is no step. */
proctype Server() {
  mtype command = none;
  byte who;
  bit shown;
  mtype timeout_action = none;
  mtype seen_status;
  byte seen_level;
  bit seen_version;
  bit seen_over;
  byte seen_votes;
  mtype seen_gate;
  do
  :: atomic {
    if
    :: HEAD_FREE && left > 0 ->
       left--;
       if
       :: command = approve
       :: command = reject
       :: command = escalate
       :: command = edit
       :: command = cancel
       :: command = trigger
       :: command = withdraw
       :: command = tighten
       :: command = deactivate
       fi
#ifndef NO_EXPIRY
    :: HEAD_FREE && is_open(status) && window_over -> command = expiry
#endif
    :: !is_open(status) -> break
    fi;
    TAKE;
    seen_status = status; seen_level = level; seen_version = version; seen_over = window_over; seen_votes = votes; seen_gate = gate;
    if
    :: command == approve || command == reject || command == escalate || command == edit ->
       if
       :: who = MEMBER
       :: who = ADMIN
       :: who = OTHER_ADMIN
       fi
    :: command == expiry || command == trigger ->
       if
       :: timeout_action = on_reject       /* on_notify_only ends it alike */
       :: timeout_action = on_approve
       :: timeout_action = on_escalate
       fi
    :: else -> skip
    fi;
    /* Whatever was shown to somebody was the content at some time. */
    if
    :: shown = 0
    :: who != 0 && version == 1 -> shown = 1
    fi
  };
  if
  /* The server dies: rolled back. A command that was lost may come again; expiry always does. */
  :: d_step { command != expiry -> LET_GO; forget() }
  :: d_step { command == expiry && !expired_in_vain -> expired_in_vain = 1; LET_GO; forget() }
  :: d_step {
    if
    :: command == withdraw -> gate = refuses
    :: command == tighten -> gate = asks_admins
    :: command == deactivate ->
       gate = refuses;
       if
       :: is_open(seen_status) && UNCHANGED -> end_as(cancelled)
       :: else -> skip
       fi
    :: command == expiry || command == trigger ->
       if
       :: is_open(seen_status) && UNCHANGED && (command == trigger || seen_over) -> time_out()
       :: else -> skip                                                        /* somebody was first */
       fi
    :: command == cancel ->
       if
       :: is_open(seen_status) && UNCHANGED && IN_TIME -> CLAIM(2, !window_over); end_as(cancelled)
       :: else -> skip
       fi
    :: else ->
       if
       :: !is_open(seen_status) || !UNCHANGED || !IN_TIME -> skip             /* 409, with the state */
       :: else ->
          if
          :: !NAMED -> skip                                                   /* 409 HITL_DIGEST_MISMATCH */
          :: NAMED && !RANKED -> skip                                        /* 403 NOT_ELIGIBLE */
          :: else ->
             if
             :: command == approve -> approve_or_vote()
             :: command == reject -> counts_now(); end_as(rejected)
             :: command == escalate && seen_level < 2 -> counts_now(); rise_to(seen_level + 1)
             :: command == edit -> counts_now(); version = 1; votes = 0
             :: else -> skip                                                  /* 409 ESCALATION_LIMIT */
             fi
          fi
       fi
    fi;
    LET_GO;
    forget()
  }
  fi
  od
}

/* Time: the window ends, as often as there is a new one. */
proctype Window() {
  do
  :: is_open(status) && !window_over -> window_over = 1
  :: !is_open(status) -> break
  od
}

init {
  atomic {
    if
    :: status = pending; level = 0; forced = 0
    :: status = pending; level = 2; forced = 0      /* asked on behalf of a person */
    :: status = escalated; level = 2; forced = 1
    fi;
    if
    :: quorum = 0
    :: quorum = 1
    fi;
    run Server();
    run Server();
    run Window()
  }
}

#ifdef LIVENESS
ltl every_request_ends { <> (finals > 0) }
#endif
