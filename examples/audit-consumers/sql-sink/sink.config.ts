/** Of the database that the records go to. */
export const databaseUrl = (): string | undefined => process.env.AUDIT_SINK_DATABASE_URL;
