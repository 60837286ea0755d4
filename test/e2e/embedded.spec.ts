import { installationSuite } from './installation.suite.ts';
import { openEmbedded } from './open-embedded.ts';

describe('embedded: seven services in one process, in-process bus, real PostgreSQL', () => {
  installationSuite(openEmbedded);
});
