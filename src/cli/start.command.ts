import { Command } from 'commander';
import { serve } from '../start/serve.js';

export function startCommand(): Command {
  return new Command('start').description('Starts the server, as npm start does.').action(() => serve(process.env));
}
