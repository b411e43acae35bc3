//! Calls one hot function so many times, for an instruction counter: `counted FUNCTION TIMES`.
//!
//! The count of twice as many calls less that of once as many is the count of the calls alone.

mod hot;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let name = arguments.next().unwrap_or_default();
    let times = arguments.next().and_then(|times| times.parse::<usize>().ok());
    let (true, Some(times)) = (hot::NAMES.contains(&name.as_str()), times) else {
        println!("counted FUNCTION TIMES, where FUNCTION is one of {}", hot::NAMES.join(", "));
        return ExitCode::SUCCESS;
    };
    let mut hot = hot::Hot::new();
    (0..times).for_each(|_| hot.call(&name));
    ExitCode::SUCCESS
}
