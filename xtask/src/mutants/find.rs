//! Finds the mutants of a source file.
//!
//! Conditions become `true` and `false`, each part of an `&&` or `||` drops out, limits of
//! comparisons move by one, operators change, statements and arms of a `match` are left out, and
//! functions return a default value. Constants and test code stay as they are.

mod predicates;

use std::collections::HashMap;
use std::ops::Range;

use anyhow::{Context as _, Result};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprMatch, ExprMethodCall, Item, Lit, Pat,
    ReturnType, Signature, Stmt, Type, UnOp,
};

use super::mutant::{Form, Mutant, quoted};
use predicates::{is_predicate, takes_predicate};

/// All mutants of a file, in the order of its lines.
pub(super) fn mutants(file: &str, text: &str) -> Result<Vec<Mutant>> {
    let syntax = syn::parse_file(text).with_context(|| format!("{file} is not Rust"))?;
    let mut finder = Finder { file, text, scope: Vec::new(), found: Vec::new() };
    for item in &syntax.items {
        finder.visit_item(item);
    }
    let mut found = finder.found;
    found.sort_by_key(|mutant| (mutant.range.start, mutant.range.end));
    number_equal_names(&mut found);
    Ok(found)
}

/// Tells apart the mutants of one function that would have the same name.
fn number_equal_names(mutants: &mut [Mutant]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for mutant in mutants {
        let count = seen.entry(mutant.name()).or_default();
        *count += 1;
        if *count > 1 {
            mutant.change = format!("{} #{count}", mutant.change);
        }
    }
}

struct Finder<'s> {
    file: &'s str,
    text: &'s str,
    /// The types and functions around the current place.
    scope: Vec<String>,
    found: Vec<Mutant>,
}

impl Visit<'_> for Finder<'_> {
    fn visit_item(&mut self, item: &Item) {
        let (attributes, name) = match item {
            Item::Fn(function) => (&function.attrs, None),
            Item::Mod(module) => (&module.attrs, None),
            Item::Impl(block) => (&block.attrs, Some(type_name(&block.self_ty))),
            Item::Trait(definition) => (&definition.attrs, Some(definition.ident.to_string())),
            // Constants are fixed before the tests can choose a mutant.
            _ => return,
        };
        if !is_test(attributes) {
            self.within(name, |finder| visit::visit_item(finder, item));
        }
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        self.function(&function.attrs, &function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        self.function(&function.attrs, &function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.attrs, &function.sig, block);
        }
    }

    fn visit_stmt(&mut self, statement: &Stmt) {
        let is_removable = match statement {
            Stmt::Expr(expression, Some(_)) => is_removable(expression),
            Stmt::Macro(call) => call.semi_token.is_some() && !is_check(&call.mac),
            _ => false,
        };
        if is_removable {
            self.change(statement, Form::Remove);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::If(branch) => {
                self.condition(&branch.cond);
                self.visit_block(&branch.then_branch);
                if let Some((_, otherwise)) = &branch.else_branch {
                    self.visit_expr(otherwise);
                }
            }
            Expr::While(repeat) => {
                // A loop that never ends says nothing about its condition.
                match &*repeat.cond {
                    chain if chain_of(chain).is_some() => self.condition(chain),
                    Expr::Let(binding) => self.visit_expr(&binding.expr),
                    condition => {
                        self.replace(condition, "false");
                        self.parts_of_condition(condition);
                    }
                }
                self.visit_block(&repeat.body);
            }
            Expr::Match(choice) => self.choice(choice),
            _ if is_condition(expression) => self.condition(expression),
            Expr::Lit(literal) if matches!(&literal.lit, Lit::Bool(_)) => {
                let is_true = matches!(&literal.lit, Lit::Bool(word) if word.value);
                self.replace(expression, if is_true { "false" } else { "true" });
            }
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Deref(_)) => {
                let operand = self.source(range(&unary.expr)).to_owned();
                self.replace(expression, &operand);
                self.visit_expr(&unary.expr);
            }
            _ => self.parts_of_condition(expression),
        }
    }

    // It is evaluated before the tests can choose a mutant.
    fn visit_expr_const(&mut self, _: &syn::ExprConst) {}
    fn visit_type(&mut self, _: &Type) {}
    fn visit_pat(&mut self, _: &Pat) {}
    fn visit_attribute(&mut self, _: &Attribute) {}
    fn visit_generic_argument(&mut self, _: &syn::GenericArgument) {}

    fn visit_expr_repeat(&mut self, repeat: &syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }
}

impl Finder<'_> {
    fn within(&mut self, name: Option<String>, look: impl FnOnce(&mut Self)) {
        let depth = self.scope.len();
        self.scope.extend(name);
        look(self);
        self.scope.truncate(depth);
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        if is_test(attributes) || signature.constness.is_some() {
            return;
        }
        self.within(Some(signature.ident.to_string()), |finder| match &block.stmts[..] {
            [Stmt::Expr(only, None)] if is_bool(&signature.output) => finder.condition(only),
            _ => {
                finder.returns(signature, block);
                finder.visit_block(block);
            }
        });
    }

    /// The function returns default values of its type at once.
    fn returns(&mut self, signature: &Signature, block: &Block) {
        let begins = block.brace_token.span.open().byte_range().end;
        let body = self
            .source(begins..block.brace_token.span.close().byte_range().start)
            .trim()
            .to_owned();
        let has_steps = |value: &str| !body.is_empty() && body != value;
        let is_removed_in_parts = |statement: &Stmt| matches!(statement, Stmt::Expr(expression, Some(_)) if is_removable(expression));
        for &value in plainest(&signature.output) {
            let is_covered = value.is_empty() && block.stmts.iter().any(is_removed_in_parts);
            if has_steps(value) && !is_covered {
                let change = match value {
                    "" => "return at once".to_owned(),
                    _ => format!("return `{value}` at once"),
                };
                let line = block.brace_token.span.open().start().line;
                self.add(line, begins..begins, change, Form::Return(value.to_owned()));
            }
        }
    }

    /// An expression that decides something: it, or parts of it, become `true` and `false`.
    fn condition(&mut self, expression: &Expr) {
        match expression {
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::Let(binding) => self.visit_expr(&binding.expr),
            _ => match chain_of(expression) {
                Some(chain) => {
                    self.operands(&chain);
                    self.whole_chain(expression, &chain);
                }
                None => {
                    self.replace(expression, "true");
                    self.replace(expression, "false");
                    self.parts_of_condition(expression);
                }
            },
        }
    }

    /// Each operand of an `&&` or `||` drops out of it.
    fn operands(&mut self, chain: &Chain<'_>) {
        for operand in &chain.operands {
            match operand {
                Expr::Let(binding) => self.visit_expr(&binding.expr),
                _ => {
                    self.replace(operand, chain.neutral());
                    self.parts_of_condition(operand);
                }
            }
        }
    }

    /// All of an `&&` becomes false, all of an `||` true; where it binds names, one operand does.
    fn whole_chain(&mut self, expression: &Expr, chain: &Chain<'_>) {
        let is_binding = |operand: &&&Expr| matches!(operand, Expr::Let(_));
        if chain.operands.iter().any(|operand| is_binding(&operand)) {
            if let Some(operand) = chain.operands.iter().find(|operand| !is_binding(operand)) {
                self.replace(operand, chain.absorbing());
            }
        } else {
            self.replace(expression, chain.absorbing());
        }
    }

    /// The inside of an expression that is already replaced as a whole.
    fn parts_of_condition(&mut self, expression: &Expr) {
        match expression {
            Expr::Paren(inner) => self.parts_of_condition(&inner.expr),
            Expr::Unary(unary) => match &*unary.expr {
                Expr::Paren(inner) => self.parts_of_condition(&inner.expr),
                operand => self.parts_of_condition(operand),
            },
            Expr::Lit(_) => {}
            Expr::Binary(binary) => match chain_of(expression) {
                Some(chain) => self.operands(&chain),
                None => self.operator(binary),
            },
            Expr::MethodCall(call) => self.method(call),
            _ => visit::visit_expr(self, expression),
        }
    }

    fn operator(&mut self, binary: &ExprBinary) {
        if let Some(other) = other_operator(&binary.op) {
            let [left, right] = [&binary.left, &binary.right].map(|side| self.source(range(side)));
            let replacement = format!("{left} {other} {right}");
            self.replace(binary, &replacement);
        }
        self.visit_expr(&binary.left);
        self.visit_expr(&binary.right);
    }

    fn method(&mut self, call: &ExprMethodCall) {
        let name = call.method.to_string();
        match name.as_str() {
            "then" | "then_some" => self.condition(&call.receiver),
            "min" | "max" => {
                let other = if name == "min" { "max" } else { "min" };
                let (receiver, whole) = (range(&call.receiver), range(call));
                let after = self.source(call.method.span().byte_range().end..whole.end);
                let with = format!("{}.{other}{after}", self.source(receiver));
                let now = quoted(self.source(whole.clone()));
                let change = format!("replace `{name}` with `{other}` in {now}");
                let line = call.method.span().start().line;
                self.add(line, whole, change, Form::Replace(with));
                self.visit_expr(&call.receiver);
            }
            _ => self.visit_expr(&call.receiver),
        }
        for argument in &call.args {
            match argument {
                Expr::Closure(closure)
                    if takes_predicate(&name) && !matches!(&*closure.body, Expr::Block(_)) =>
                {
                    self.condition(&closure.body);
                }
                _ => self.visit_expr(argument),
            }
        }
    }

    fn choice(&mut self, choice: &ExprMatch) {
        self.visit_expr(&choice.expr);
        let takes_the_rest = choice.arms.last().is_some_and(takes_the_rest);
        let last = choice.arms.len().saturating_sub(1);
        for (position, arm) in choice.arms.iter().enumerate() {
            match &arm.pat {
                Pat::Guard(guarded) => self.condition(&guarded.guard),
                pattern if takes_the_rest && position < last => {
                    let end = range(pattern).end;
                    let change = format!("skip the arm {}", quoted(self.source(range(pattern))));
                    self.add(pattern.span().start().line, end..end, change, Form::SkipArm);
                }
                _ => {}
            }
            if is_effect(&arm.body) {
                self.replace(&arm.body, "()");
            }
            self.visit_expr(&arm.body);
        }
    }

    fn replace(&mut self, place: &impl Spanned, with: &str) {
        self.change(place, Form::Replace(with.to_owned()));
    }

    fn change(&mut self, place: &impl Spanned, form: Form) {
        let range = range(place);
        let now = quoted(self.source(range.clone()));
        let change = match &form {
            Form::Replace(with) => format!("replace {now} with {}", quoted(with)),
            _ => format!("remove {now}"),
        };
        self.add(place.span().start().line, range, change, form);
    }

    fn add(&mut self, line: usize, range: Range<usize>, change: String, form: Form) {
        let is_known = |known: &Mutant| known.range == range && known.form == form;
        if !self.found.iter().any(is_known) {
            let (file, function) = (self.file.to_owned(), self.scope.join("::"));
            self.found.push(Mutant { file, line, function, change, range, form });
        }
    }

    fn source(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

fn range(place: &impl Spanned) -> Range<usize> {
    place.span().byte_range()
}

/// The operands of all `&&`, or of all `||`, that follow each other.
struct Chain<'e> {
    is_and: bool,
    operands: Vec<&'e Expr>,
}

impl Chain<'_> {
    /// The value of an operand that changes nothing.
    fn neutral(&self) -> &'static str {
        if self.is_and { "true" } else { "false" }
    }

    /// The value of an operand that decides alone.
    fn absorbing(&self) -> &'static str {
        if self.is_and { "false" } else { "true" }
    }
}

fn chain_of(expression: &Expr) -> Option<Chain<'_>> {
    let is_and = |op: &BinOp| match op {
        BinOp::And(_) => Some(true),
        BinOp::Or(_) => Some(false),
        _ => None,
    };
    let Expr::Binary(binary) = expression else { return None };
    let kind = is_and(&binary.op)?;
    let mut operands = vec![&*binary.right];
    let mut left = &*binary.left;
    while let Expr::Binary(binary) = left
        && is_and(&binary.op) == Some(kind)
    {
        operands.push(&binary.right);
        left = &binary.left;
    }
    operands.push(left);
    operands.reverse();
    Some(Chain { is_and: kind, operands })
}

/// Whether an expression is certainly a truth value.
fn is_condition(expression: &Expr) -> bool {
    match expression {
        Expr::Binary(binary) => {
            use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
            matches!(binary.op, And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
        }
        Expr::MethodCall(call) => is_predicate(&call.method.to_string()),
        Expr::Macro(call) => call.mac.path.is_ident("matches"),
        _ => false,
    }
}

/// The operator that a typing mistake would put in place of another.
fn other_operator(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::Add(_) => "-",
        BinOp::Sub(_) | BinOp::Mul(_) => "+",
        BinOp::Div(_) | BinOp::Rem(_) => "*",
        BinOp::BitAnd(_) => "|",
        BinOp::BitOr(_) | BinOp::BitXor(_) => "&",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        BinOp::BitOrAssign(_) | BinOp::BitAndAssign(_) => "=",
        _ => return None,
    })
}

/// Whether a test could notice that a statement is missing, and the next statement runs after it.
fn is_removable(expression: &Expr) -> bool {
    match expression {
        Expr::Try(inner) => is_removable(&inner.expr),
        Expr::Await(inner) => is_removable(&inner.base),
        Expr::Binary(binary) => !is_condition(expression) && other_operator(&binary.op).is_some(),
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => true,
        _ => false,
    }
}

/// Whether the body of an arm may be there for its effect, not for its value.
fn is_effect(expression: &Expr) -> bool {
    matches!(expression, Expr::Assign(_) | Expr::MethodCall(_)) && !is_condition(expression)
}

/// Whether a macro only reports an error that happened before.
fn is_check(call: &syn::Macro) -> bool {
    let name = call.path.segments.last().map(|segment| segment.ident.to_string());
    let checks = ["assert", "debug_assert", "panic", "unreachable"];
    name.is_some_and(|name| checks.iter().any(|check| name.starts_with(check)))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = || attribute.meta.require_list().ok().map(|list| list.tokens.to_string());
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg") && list().as_deref() == Some("test"))
    })
}

fn takes_the_rest(arm: &Arm) -> bool {
    match &arm.pat {
        Pat::Wild(_) => true,
        Pat::Ident(name) => {
            name.subpat.is_none() && name.ident.to_string().starts_with(char::is_lowercase)
        }
        _ => false,
    }
}

fn is_bool(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, kind) if type_name(kind) == "bool")
}

fn type_name(kind: &Type) -> String {
    match kind {
        Type::Path(path) => {
            path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
        }
        Type::Reference(reference) => type_name(&reference.elem),
        _ => String::new(),
    }
}

/// Default values of a type; empty text for `()`.
fn plainest(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, kind) = output else { return &[""] };
    let is_reference = matches!(&**kind, Type::Reference(_));
    match (type_name(kind).as_str(), is_reference) {
        ("bool", false) => &["true", "false"],
        ("u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64", false) => &["0", "1"],
        ("Option", false) => &["None"],
        ("String", false) => &["String::new()"],
        ("str", true) => &["\"\""],
        ("Vec", false) => &["Vec::new()"],
        // Those that hold anything but `()` do not compile and are counted as such.
        ("Result", false) => &["Ok(())"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests;
