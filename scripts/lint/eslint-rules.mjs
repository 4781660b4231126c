// ESLint rules of our own.

const explainedDisable = {
  meta: { type: 'suggestion', schema: [], messages: {
    reason: 'Say why after "--": eslint-disable-next-line <rule> -- <reason>.',
    rule: 'Name the rule that is switched off.',
  } },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const directive = /^\s*eslint-disable(?:-next-line|-line)?(?![\w-])([^]*)$/.exec(comment.value);
          if (!directive) continue;
          const [rules, reason = ''] = directive[1].split(/\s--\s/);
          if (rules.trim() === '') context.report({ loc: comment.loc, messageId: 'rule' });
          if (reason.trim().length < 10) context.report({ loc: comment.loc, messageId: 'reason' });
        }
      },
    };
  },
};

export const local = { rules: { 'explained-disable': explainedDisable } };
