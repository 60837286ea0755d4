import { InfrastructureError } from '#kernel';
import { freshDatabase } from '../../../persistence/testing/fresh-database.ts';
import { freePort } from '../embedded/embedded-postgres.ts';
import { checkDatabase } from './check-database.ts';

const NAME = 'COUNTERSIGN_DATABASE_URL';

describe('the database is asked at start (G13)', () => {
  it('what is no address is a wrong setting', async () => {
    for (const url of ['postgres://', 'postgres://u:p w@[bad']) {
      await expect(checkDatabase(NAME, url)).rejects.toMatchObject({
        code: 'INVALID_ARGS',
        message: expect.stringContaining(`${NAME} is not an address; expected postgresql://`),
      });
    }
  });

  it('nobody who answers is machinery that is away: address, reason and remedy, without the password', async () => {
    const port = await freePort();
    const checking = checkDatabase(NAME, `postgres://me:hunter2@127.0.0.1:${port}/x`);
    await expect(checking).rejects.toThrow(InfrastructureError);
    await expect(checking).rejects.toThrow(
      `No PostgreSQL answers at 127.0.0.1:${port}/x (ECONNREFUSED). Start it, or correct ${NAME}.`,
    );
  });

  it('a wrong password and a missing database are told as such', async () => {
    const fresh = await freshDatabase();
    try {
      const url = new URL(fresh.url);
      await expect(checkDatabase(NAME, url.href)).resolves.toBeUndefined();
      const password = new URL(url);
      password.password = 'hunter2';
      await expect(checkDatabase(NAME, password.href)).rejects.toMatchObject({
        code: 'INVALID_ARGS',
        message: expect.stringMatching(/refuses the user or the password; correct them \(28P01\)\.$/),
      });
      const database = new URL(url);
      database.pathname = '/nobody_made_this';
      await expect(checkDatabase(NAME, database.href)).rejects.toThrow(/no such database; create it, or correct/);
    } finally {
      await fresh.drop();
    }
  });
});
