import type { Command } from 'commander';

/** By their first word. Each is loaded when it is called: most need the server's code, and those that call a server need none of it. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.command.js')).startCommand(),
  doctor: async () => (await import('./doctor/doctor.command.js')).doctorCommand(),
  hitl: async () => (await import('./service/hitl/hitl.command.js')).hitlCommand(),
  agents: async () => (await import('./service/agents.command.js')).agentsCommand(),
  grants: async () => (await import('./service/grants.command.js')).grantsCommand(),
  execute: async () => (await import('./service/execute.command.js')).executeCommand(),
  stop: async () => (await import('./service/stop.command.js')).stopCommand(),
  resume: async () => (await import('./service/stop.command.js')).resumeCommand(),
  audit: async () => (await import('./audit/audit.command.js')).auditCommand(),
  backup: async () => (await import('./backup/backup.command.js')).backupCommand(),
  restore: async () => (await import('./backup/restore.command.js')).restoreCommand(),
  recover: async () => (await import('./recover.command.js')).recoverCommand(),
  migrate: async () => (await import('./migrate.command.js')).migrateCommand(),
  key: async () => (await import('./key.command.js')).keyCommand(),
  secrets: async () => (await import('./secrets/secrets.command.js')).secretsCommand(),
  environment: async () => (await import('./environment.command.js')).environmentCommand(),
};
