//! Tokens that were verified, so that one signature is checked once and not once a call.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// The SHA-256 of a token.
pub(super) type TokenHash = [u8; 32];

/// Keeps the entries used last: at least `generation` of them, at most twice as many.
#[derive(Debug)]
pub(super) struct Cache<T> {
    generation: usize,
    entries: Mutex<Entries<T>>,
}

#[derive(Debug)]
struct Entries<T> {
    young: HashMap<TokenHash, Arc<T>>,
    old: HashMap<TokenHash, Arc<T>>,
}

impl<T> Cache<T> {
    pub(super) fn new(generation: usize) -> Self {
        Self { generation, entries: Mutex::new(Entries { young: HashMap::new(), old: HashMap::new() }) }
    }

    pub(super) fn get(&self, hash: &TokenHash) -> Option<Arc<T>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.young.get(hash) {
            return Some(Arc::clone(entry));
        }
        let entry = entries.old.remove(hash)?;
        self.put(&mut entries, *hash, Arc::clone(&entry));
        Some(entry)
    }

    pub(super) fn insert(&self, hash: TokenHash, entry: Arc<T>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        self.put(&mut entries, hash, entry);
    }

    pub(super) fn remove(&self, hash: &TokenHash) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.young.remove(hash);
        entries.old.remove(hash);
    }

    fn put(&self, entries: &mut Entries<T>, hash: TokenHash, entry: Arc<T>) {
        if entries.young.len() >= self.generation {
            entries.old = mem::take(&mut entries.young);
        }
        entries.young.insert(hash, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(cache: &Cache<u8>) -> usize {
        let entries = cache.entries.lock().unwrap();
        entries.young.len() + entries.old.len()
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_used() {
        let cache = Cache::new(4);
        cache.insert([255; 32], Arc::new(255));
        for n in 0..100 {
            cache.insert([n; 32], Arc::new(n));
            assert_eq!(cache.get(&[255; 32]).as_deref(), Some(&255), "after {n}");
            assert!(held(&cache) <= 8, "{}", held(&cache));
        }
        assert_eq!(cache.get(&[0; 32]), None);
    }

    #[test]
    fn what_is_removed_is_gone_from_both_generations() {
        let cache = Cache::new(1);
        cache.insert([1; 32], Arc::new(1));
        cache.insert([2; 32], Arc::new(2));
        cache.remove(&[1; 32]);
        cache.remove(&[2; 32]);
        assert_eq!(held(&cache), 0);
    }
}
