import { Command } from 'commander';

export function startCommand(): Command {
  return new Command('start').description('Starts the server, as npm start does.').action(async () => {
    // The other commands have no use for a server.
    const { serve } = await import('../start/serve.js');
    await serve(process.env);
  });
}
