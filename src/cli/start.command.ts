import { Command } from 'commander';

export function startCommand(): Command {
  return new Command('start').description('Starts the server, as npm start does.').action(async () => {
    // Imported here: to load the server would slow every other command.
    const { serve } = await import('../start/serve.js');
    await serve(process.env);
  });
}
