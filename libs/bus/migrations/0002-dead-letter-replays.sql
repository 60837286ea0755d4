-- A person had the record sent again; it stays for the record.
alter table dead_letter add column replayed_at timestamptz;
create index dead_letter_by_topic on dead_letter (topic, id desc);
