-- Records that no repetition could help, with their raw bytes, kept until a person replays or removes them.
create table dead_letter (
  id               bigint generated always as identity primary key,
  consumer_group   text not null,
  topic            text not null,
  partition        int not null,
  record_offset    text not null,
  key              bytea,
  value            bytea,
  headers          jsonb not null,
  handler_attempts int not null,
  code             text not null,
  cause            text not null,
  at               timestamptz not null default now()
);
create index dead_letter_by_group on dead_letter (consumer_group, id desc);
