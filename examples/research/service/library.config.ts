/** The address of the library's PostgreSQL; undefined when it is not set. */
export const databaseUrl = (): string | undefined => process.env.RESEARCH_DATABASE_URL || undefined;
