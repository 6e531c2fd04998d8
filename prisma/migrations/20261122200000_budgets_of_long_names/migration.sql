-- A host has up to 253 characters, and the key of its budget has a word in front of them.
alter table budget alter column key type text;
