"""keeper: removes manifests from the record when their jobs have ended long ago, if it is told how long they are kept.

Owns: which messages of the record are deleted: nobody else deletes any. Hears: the record, as far back as manifests are
kept. Says: manifests_removed, before it deletes. Never: touches a manifest of a job that has not ended, or one that
admission may still have to answer; changes a job; reads the store.
"""
