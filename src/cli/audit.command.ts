import { Command } from 'commander';
import { auditVerifyCommand } from './audit-verify.command.js';

/** Commands over the audit log. */
export function auditCommand(): Command {
  const audit = new Command('audit').description('Looks after the audit log.');
  audit.addCommand(auditVerifyCommand());
  return audit;
}
