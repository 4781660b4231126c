import type { LoggerService } from '@nestjs/common';
import type { Level } from 'pino';
import type { Logger } from './logger.js';

/** The framework itself tells of each of its modules and routes. */
const FRAMEWORK: ReadonlySet<unknown> = new Set(['InstanceLoader', 'NestApplication', 'NestFactory', 'RouterExplorer', 'RoutesResolver']);

/** Nest's log lines through ours. Nest passes the context last, and for errors a stack before it. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    const context = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    const details = context === undefined ? rest : rest.slice(0, -1);
    const error = [message, ...details].find((part) => part instanceof Error);
    const stack = error ? undefined : details.find((part) => typeof part === 'string' && part.includes('\n    at '));
    this.logger[level]({ context, err: error, stack }, message instanceof Error ? message.message : textOf(message));
  }
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  try {
    return JSON.stringify(message) ?? String(message);
  } catch {
    return String(message);
  }
}
