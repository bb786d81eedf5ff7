-- Decision: no index of decisions by owner. Each decision went to the leaf of its owner, so that a group of decisions of
-- as many owners wrote as many pages besides those that the decisions fill: a seventh of what a recall took. Nothing
-- reads decisions by owner. What will is better served by a table that decisions enter later, many of an owner at once.
DROP INDEX decisions_by_time;
